import type { TableSource } from '../download/table-source.ts';
import type { Finality } from '../model/answer.ts';
import type { FlatColumn } from '../model/table.ts';
import { matches } from '../response/etag.ts';

export interface ParquetAnswerOptions {
  etag: string;
  finality: Finality;
  /** About its prices. The request has its own. */
  warnings?: readonly string[] | undefined;
  columns: readonly FlatColumn[];
  /** Its rows as NDJSON. */
  source: TableSource;
}

/** A table that is requested as Parquet, before it is encoded. */
export class ParquetAnswer {
  readonly options: ParquetAnswerOptions;
  #units: Promise<number> | undefined;

  constructor(options: ParquetAnswerOptions) {
    this.options = options;
  }

  /** Whether `If-None-Match` contains its tag. */
  isUnchanged(ifNoneMatch: string): boolean {
    return matches(ifNoneMatch, this.options.etag);
  }

  /** The units to charge, in addition to any charged already. */
  units(): Promise<number> {
    this.#units ??= this.options.source.units();
    return this.#units;
  }

  async *rows(): AsyncGenerator<Uint8Array> {
    await this.units(); // prepares the source
    yield* this.options.source.text();
  }
}
