import { createAccount } from '../../src/gate/onboarding.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { periodOf } from '../../src/ledger/quota/period.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { Client } from '../support/http/client.ts';
import { eventually, openpit } from '../support/program.ts';
import { Replicas } from '../support/replication/replicas.ts';

/** The request of all clients: one price. */
export const PATH = '/rates/latest?symbols=XAU';

const LIMITS = { delaySeconds: 0, maxSymbols: 5, maxSpanDays: 30, burstPerSecond: 1_000_000, history: true };

/** Replicas of the real program that serve one price, and a connection of the test's own to their ledger. */
export class Cluster {
  readonly replicas: Replicas;
  readonly ledger: Ledger;
  #plans = 0;

  private constructor(replicas: Replicas, ledger: Ledger) {
    this.replicas = replicas;
    this.ledger = ledger;
  }

  /** `through` is the URL by which the replicas reach the ledger, for example that of a proxy. */
  static async start(
    url: string,
    count: number,
    through = url,
    settings: Record<string, string> = {},
  ): Promise<Cluster> {
    const replicas = new Replicas(through, count, settings);
    await replicas.start();
    const ledger = await Ledger.open(url, systemClock);
    const cluster = new Cluster(replicas, ledger);
    await cluster.tick(100);
    const { key } = await cluster.newAccount(1_000);
    const isServed = async (url: string) => (await new Client(url).get(PATH, key)) === 200;
    await eventually(async () => (await Promise.all(cluster.urls.map(isServed))).every(Boolean));
    return cluster;
  }

  get urls(): string[] {
    return this.replicas.urls;
  }

  /** An account on a plan of its own. */
  async newAccount(quota: number): Promise<{ id: string; key: string; keyId: string }> {
    const name = `plan${++this.#plans}`;
    await this.ledger.plans.set({ name, quota, ...LIMITS });
    const { account, issued } = await createAccount(this.ledger, { name, plan: name }, systemClock.now());
    return { id: account.id, key: issued.text, keyId: issued.key.id };
  }

  /**
   * The units counted for an account, after every replica has reported. `/usage` waits only 300 ms for the reports, so on a
   * busy machine it may return an older value.
   */
  async usedOf(id: string): Promise<number> {
    const period = periodOf(systemClock.now());
    let used = 0;
    await eventually(async () => {
      const barrier = await this.ledger.quota.raiseBarrier(id, period);
      await Bun.sleep(200);
      const usage = await this.ledger.quota.usage(id, period, barrier);
      used = usage.used;
      return usage.behind === 0;
    });
    return used;
  }

  /** Returns the id of the tick. */
  async tick(price: number, code = 'XAU'): Promise<string> {
    const { id: symbolId } = (await this.ledger.symbols.list()).find((symbol) => symbol.code === code)!;
    const at = systemClock.now();
    const tick = { symbolId, at, received: at, price, id: crypto.randomUUID() };
    await this.ledger.ticks.append([tick], 'test');
    return tick.id;
  }

  /** The problems that `openpit check` finds in the ledger's counts; none in a correct run. */
  async wrongCounts(): Promise<string[]> {
    const { exitCode, stdout, stderr } = await openpit(['check'], this.replicas.settings);
    return exitCode === 0 && stdout.includes('All counts add up') ? [] : [stdout + stderr];
  }

  async end(): Promise<void> {
    await this.replicas.end();
    await this.ledger.close();
  }
}
