import type { Ledger } from '../ledger/ledger.ts';
import type { Day } from '../market/day.ts';
import { marketOf, sessionEnd } from '../market/session.ts';

/** How new the data is, for /health. Both are undefined while there is none. */
export class Newest {
  /** The time of the newest price itself, in ms: of a tick its moment, of a bar the end of its session. */
  priceAt: number | undefined;
  /** When a price was last written to the ledger, in ms. Importing old history is a write of today. */
  writtenAt: number | undefined;

  async load(ledger: Ledger): Promise<void> {
    this.priceAt = undefined;
    for (const { market, day, at } of await ledger.newestPrices()) {
      if (day !== undefined) this.seeBar(market, day);
      if (at !== undefined) this.seeTick(at);
    }
    await this.loadWrite(ledger);
  }

  async loadWrite(ledger: Ledger): Promise<void> {
    this.writtenAt = await ledger.newestWriteAt();
  }

  seeTick(at: number): void {
    this.priceAt = Math.max(this.priceAt ?? Number.NEGATIVE_INFINITY, at);
  }

  seeBar(market: string, day: Day): void {
    this.seeTick(sessionEnd(marketOf(market), day));
  }
}
