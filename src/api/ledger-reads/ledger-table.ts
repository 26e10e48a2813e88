import { PageFile } from '../download/page-file.ts';
import type { TableSource } from '../download/table-source.ts';
import { refuse } from '../errors/errors.ts';
import { ROWS_PER_UNIT, unitsByRows } from '../model/long-table.ts';
import type { TextFormat } from '../model/table.ts';
import type { LedgerResponse } from './protocol.ts';

/** How many times a table is read from its first page because its prices changed during the read. */
const ATTEMPTS_MAX = 3;

export interface LedgerTableOptions {
  format: TextFormat;
  /** Directory for temporary files. */
  dir: string;
  /** Reads the first page, or the page at a cursor. `since` is the revision of the first page. */
  read(from?: { cursor: string; since: number }): Promise<LedgerResponse>;
  /** Throws a refusal if the remaining quota is known to be smaller. */
  requireAffordable(units: number): void;
}

/**
 * A table that spans several pages of ledger reads. It reads all of them before the first byte is sent, so a failed page
 * or an exhausted quota gives an error instead of half a file. All pages must show the same prices: if they change
 * during the read, it starts over.
 */
export class LedgerTableSource implements TableSource {
  readonly #first: LedgerResponse;
  readonly #options: LedgerTableOptions;
  #file: PageFile | undefined;

  /** Takes the first page, which is already read and charged. */
  constructor(first: LedgerResponse, options: LedgerTableOptions) {
    this.#first = first;
    this.#options = options;
  }

  /** Reads the remaining pages. The first unit was charged before the first page was read. */
  async units(): Promise<number> {
    const { dir, read } = this.#options;
    this.#file = await PageFile.open(dir);
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const first = attempt === 1 ? this.#first : await read();
        const rows = await readPages(first, this.#file, this.#options);
        if (rows !== undefined) return isPaidByRead(first) ? 0 : unitsByRows(rows) - 1;
        this.#file.clear();
      }
      throw refuse('unavailable', { why: 'prices are changing faster than they can be read' }, 1);
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

/** Whether the unit for the read pays for the whole table. A page is limited by its bars, which can have many empty cells beside them. */
export function isPaidByRead({ next, isWide, rows }: LedgerResponse): boolean {
  return next === undefined && (!isWide || rows <= ROWS_PER_UNIT);
}

/** Writes all pages to the file and returns the number of rows; undefined if prices changed. */
async function readPages(
  first: LedgerResponse,
  file: PageFile,
  { format, read, requireAffordable }: LedgerTableOptions,
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

/** The body of a page. Only the first page keeps the CSV header. */
function bodyOf({ packet, length }: LedgerResponse, withoutHeader: boolean): Uint8Array {
  const body = packet.subarray(packet.length - length);
  return withoutHeader ? body.subarray(body.indexOf(LF) + 1) : body;
}

const LF = 10;
