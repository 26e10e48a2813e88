import type { Ledger } from '../../../src/ledger/ledger.ts';

/**
 * A follower: it reads the counters first, then each table in (mine, m]. It never looks back, so what it misses once is
 * lost.
 */
export class Follower {
  readonly ledger: Ledger;
  /** Every tick it saw, in order. */
  readonly ticks: { revision: number; id: string }[] = [];
  readonly accounts = new Set<string>();
  /** The versions of each day's bar of each symbol: "symbol/day" → revisions. */
  readonly bars = new Map<string, number[]>();
  prices = 0;
  #accounts = 0;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  /** One poll. False when there was nothing new. */
  async poll(): Promise<boolean> {
    const head = await this.ledger.head();
    if (head.prices < this.prices)
      throw new Error(`the head went back from ${this.prices} to ${head.prices}`);
    const isNew = head.prices > this.prices || head.accounts > this.#accounts;
    for (const { revision, id } of await this.ledger.ticks.since(this.prices, head.prices)) {
      this.ticks.push({ revision, id });
    }
    for (const { symbolId, firstDay, lastDay } of await this.ledger.bars.changes(this.prices, head.prices)) {
      await this.#readBars(symbolId, firstDay, lastDay, head.prices);
    }
    const changes = await this.ledger.accounts.changes(this.#accounts, head.accounts);
    for (const id of changes.accountIds) this.accounts.add(id);
    this.prices = head.prices;
    this.#accounts = head.accounts;
    return isNew;
  }

  /** Polls until the writers are done and there is nothing left to see. */
  async until(writers: Promise<unknown>): Promise<void> {
    let writing = true;
    const done = writers.finally(() => {
      writing = false;
    });
    while (writing || (await this.poll())) {
      await this.poll();
      await Bun.sleep(0); // lets the writers of this process run
    }
    await done;
  }

  async #readBars(symbolId: number, firstDay: number, lastDay: number, upTo: number): Promise<void> {
    const versions = await this.ledger.bars.revisions(symbolId, 'real', firstDay, lastDay);
    const visible = versions.filter(({ revision }) => revision <= upTo);
    for (const [day, ofDay] of Map.groupBy(visible, (version) => version.day)) {
      this.bars.set(
        `${symbolId}/${day}`,
        ofDay.map(({ revision }) => revision),
      );
    }
  }
}
