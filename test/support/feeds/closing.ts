import { afterAll, beforeAll } from 'bun:test';
import { Ledger } from '../../../src/ledger/ledger.ts';
import type { PriceOrigin } from '../../../src/ledger/symbols/origin.ts';
import type { NewTick } from '../../../src/ledger/ticks/tick.ts';
import { type Day, dayOf } from '../../../src/market/day.ts';
import { MARKETS, sessionEnd, sessionStart } from '../../../src/market/session.ts';
import { readyLedgerUrl } from '../database/ready-ledger.ts';
import type { EngineName } from '../ledger.ts';

/** The market of gold. */
export const MARKET = MARKETS.COMEX!;

/** A ledger for tests of closing days of gold, opened before the tests of a file and closed after them. */
export class ClosingBench {
  ledger!: Ledger;
  /** The same ledger, as another process would open it. */
  other!: Ledger;
  #gold = 0;
  #day: Day = dayOf(2026, 3, 2)!; // a Monday; each test takes the next weeks' Mondays

  constructor(engine: EngineName) {
    beforeAll(async () => {
      const url = await readyLedgerUrl(engine);
      const clock = { now: () => 0 };
      this.ledger = await Ledger.open(url, clock);
      this.other = await Ledger.open(url, clock);
      this.#gold = await this.idOf('XAU');
    });
    afterAll(async () => {
      await this.ledger.close();
      await this.other.close();
    });
  }

  get gold(): number {
    return this.#gold;
  }

  async idOf(code: string): Promise<number> {
    return (await this.ledger.symbols.list()).find((symbol) => symbol.code === code)!.id;
  }

  nextDay(): { day: Day; start: number; end: number } {
    this.#day += 7;
    return { day: this.#day, start: sessionStart(MARKET, this.#day), end: sessionEnd(MARKET, this.#day) };
  }

  tick(at: number, price: number, symbolId = this.#gold): NewTick {
    return { symbolId, id: `${at}`, at, received: at, price };
  }

  async revisionsOf(day: Day, origin: PriceOrigin = 'real', symbolId = this.#gold) {
    const revisions = await this.ledger.bars.revisions(symbolId, origin, day, day);
    return revisions.map(({ open, high, low, close, reason }) => [open, high, low, close, reason]);
  }
}
