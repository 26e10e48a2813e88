import type { PageFile } from '../download/page-file.ts';
import type { Finality } from '../model/answer.ts';
import type { ByteRange } from './byte-range.ts';
import type { ParquetAnswerOptions } from './parquet-answer.ts';

/** A finished file, on disk. It stays readable until it is discarded and the last reader is done. */
export class ParquetFile {
  readonly etag: string;
  readonly finality: Finality;
  readonly warnings: readonly string[];
  readonly #content: PageFile;
  #readers = 0;
  #isDiscarded = false;

  constructor({ etag, finality, warnings = [] }: ParquetAnswerOptions, content: PageFile) {
    this.etag = etag;
    this.finality = finality;
    this.warnings = warnings;
    this.#content = content;
  }

  get length(): number {
    return this.#content.length;
  }

  get isInUse(): boolean {
    return this.#readers > 0;
  }

  /** Reserves the file until the work is done. */
  async whileInUse<T>(work: () => T | Promise<T>): Promise<T> {
    this.acquire();
    try {
      return await work();
    } finally {
      await this.release();
    }
  }

  /** Reserves the file for a reader, which must call `release` once. */
  acquire(): void {
    this.#readers++;
  }

  read(range: ByteRange): AsyncGenerator<Uint8Array> {
    return this.#content.text(range.start, range.end);
  }

  async release(): Promise<void> {
    this.#readers--;
    await this.#closeIfUnused();
  }

  async discard(): Promise<void> {
    this.#isDiscarded = true;
    await this.#closeIfUnused();
  }

  async #closeIfUnused(): Promise<void> {
    if (this.#isDiscarded && this.#readers === 0) await this.#content.close();
  }
}
