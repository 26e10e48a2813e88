import type { Ledger } from '../ledger/ledger.ts';
import type { Day } from '../market/day.ts';
import { marketOf, sessionEnd } from '../market/session.ts';

/** How recent the data is, for /health. Both times are undefined while there is none. */
export class NewestTimes {
  /** The time of the newest price, in ms: of a tick itself, or the session end of a bar. */
  priceAt: number | undefined;
  /** When a price was last written to the ledger, in ms. Importing old history counts as a write of today. */
  writtenAt: number | undefined;

  async load(ledger: Ledger): Promise<void> {
    this.priceAt = undefined;
    for (const { market, day, at } of await ledger.newestPrices()) {
      if (day !== undefined) this.addBar(market, day);
      if (at !== undefined) this.addTick(at);
    }
    await this.loadWrite(ledger);
  }

  async loadWrite(ledger: Ledger): Promise<void> {
    this.writtenAt = await ledger.newestWriteAt();
  }

  addTick(at: number): void {
    this.priceAt = Math.max(this.priceAt ?? Number.NEGATIVE_INFINITY, at);
  }

  addBar(market: string, day: Day): void {
    this.addTick(sessionEnd(marketOf(market), day));
  }
}
