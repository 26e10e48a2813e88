import type { TableSource } from '../download/download.ts';
import { unitsByRows } from '../download/long-table.ts';
import { PageFile } from '../download/page-file.ts';
import { refuse } from '../errors/errors.ts';
import type { TableFormat } from '../model/table.ts';
import type { LedgerResponse } from './protocol.ts';

/** How often a table is read from its first page on because its prices changed meanwhile. */
const ATTEMPTS_MAX = 3;

export interface PastPagesOptions {
  format: TableFormat;
  /** The folder for tables on their way. */
  dir: string;
  /** Reads a page: the first, or the one at a cursor, of the prices that the first page saw. */
  read(from?: { cursor: string; since: number }): Promise<LedgerResponse>;
  /** Refuses what is known to cost more than is left. */
  requireAffordable(units: number): void;
}

/**
 * A table of several pages that are read from the ledger, all of them before the first byte is sent: a page that fails, or a quota
 * that ends, is then an error and not half a file. All pages must be of the same prices; if these change meanwhile, reading
 * starts over.
 */
export class PastPages implements TableSource {
  readonly #first: LedgerResponse;
  readonly #options: PastPagesOptions;
  #file: PageFile | undefined;

  /** The first page was read, and paid for. */
  constructor(first: LedgerResponse, options: PastPagesOptions) {
    this.#first = first;
    this.#options = options;
  }

  /** Reads the other pages. The first unit was taken before the first page. */
  async units(): Promise<number> {
    const { dir, read } = this.#options;
    this.#file = await PageFile.open(dir);
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const first = attempt === 1 ? this.#first : await read();
        const rows = await readFrom(first, this.#file, this.#options);
        if (rows !== undefined) return unitsByRows(rows) - 1;
        this.#file.clear();
      }
      throw refuse('unavailable', { why: 'the prices change faster than they can be read' }, 1);
    } catch (error) {
      await this.release();
      throw error;
    }
  }

  text(): AsyncGenerator<Uint8Array> {
    return this.#file!.text();
  }

  async release(): Promise<void> {
    await this.#file?.close();
  }
}

/** How many rows there are; undefined when prices changed. */
async function readFrom(
  first: LedgerResponse,
  file: PageFile,
  { format, read, requireAffordable }: PastPagesOptions,
): Promise<number | undefined> {
  let rows = 0;
  for (let page = first; ; ) {
    if (page.isChanged) return undefined;
    await file.add(bodyOf(page, format === 'csv' && rows > 0));
    rows += page.rows;
    if (page.next === undefined) return rows;
    requireAffordable(unitsByRows(rows + 1) - 1);
    page = await read({ cursor: page.next, since: first.revision });
  }
}

/** The rows of a page; the first line of CSV names the columns, once. */
function bodyOf({ packet, length }: LedgerResponse, withoutHeader: boolean): Uint8Array {
  const body = packet.subarray(packet.length - length);
  return withoutHeader ? body.subarray(body.indexOf(LF) + 1) : body;
}

const LF = 10;
