import type { Board } from '../../../board/board.ts';
import type { Catalog } from '../../../board/catalog.ts';
import type { LedgerSymbol } from '../../../ledger/symbols/symbols.ts';

/** Finds the symbols that an operator's request names, including those that were defined a moment ago, or by another process. */
export class KnownSymbols {
  readonly #board: Board;
  readonly #follow: () => Promise<void>;

  constructor(board: Board, follow: () => Promise<void>) {
    this.#board = board;
    this.#follow = follow;
  }

  get catalog(): Catalog {
    return this.#board.catalog;
  }

  /** Undefined for a code that was unknown when `load` was last called. */
  get(code: string): LedgerSymbol | undefined {
    return this.catalog.find(code)?.symbol;
  }

  /** Reads the ledger if one of the codes is unknown. */
  async load(codes: Iterable<string>): Promise<void> {
    for (const code of codes) if (!this.get(code)) return this.#follow();
  }
}
