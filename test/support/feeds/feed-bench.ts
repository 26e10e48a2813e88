import { beforeAll, beforeEach } from 'bun:test';
import { FETCH_LIMITS } from '../../../src/feeds/fetch/http-client.ts';
import type { Provider } from '../../../src/feeds/provider.ts';
import type { RunnerParts } from '../../../src/feeds/run/context.ts';
import { type RunOptions, runFeed } from '../../../src/feeds/run/runner.ts';
import type { Ledger } from '../../../src/ledger/ledger.ts';
import type { FeedRun } from '../../../src/ledger/operations/feed-runs.ts';
import type { FeedHealth } from '../../../src/ledger/operations/feeds.ts';
import type { BarRevision } from '../../../src/ledger/prices/bars.ts';
import type { EngineName } from '../ledger.ts';
import { day, ledgersOf, symbolOf, unique } from '../ledgers.ts';
import { stubProvider } from './stub-provider.ts';
import { fakeRuntime, StubServer } from './stub-server.ts';

/** A Wednesday, in the afternoon in Berlin. */
export const NOW = Date.parse('2026-07-15T14:00:00Z');

/** A body of the stub provider. */
export const csv = (...rows: string[]) => `${['date,GOLD', ...rows].join('\n')}\n`;

/** Closes of 20 days, 4000 on the 24th of June and one more each day up to the 13th of July. */
export function history(last = 4019): string[] {
  const date = (i: number) => new Date(Date.UTC(2026, 5, 24 + i)).toISOString().slice(0, 10);
  return Array.from({ length: 20 }, (_, i) => `${date(i)},${i === 19 ? last : 4000 + i}`);
}

/** One price for each of the last `days` days. */
export function longHistory(days: number): string {
  const date = (i: number) => new Date(NOW - i * 86_400_000).toISOString().slice(0, 10);
  return csv(...Array.from({ length: days }, (_, i) => `${date(i)},4000`));
}

export const GOOD = csv(...history());

/** A ledger, a stub of a provider, and for each test a feed and a symbol of its own, at a time that stands still. */
export function feedBench(engine: EngineName): FeedBench {
  const ledgers = ledgersOf(engine);
  const bench = new FeedBench();
  beforeAll(async () => {
    bench.ledger = await ledgers.shared();
  }, 60_000); // on a busy machine PostgreSQL takes its time to start
  beforeEach(async () => {
    bench.key = unique('feed');
    bench.runtime = fakeRuntime(NOW);
    const { id: _, real: __, ...gold } = await symbolOf(bench.ledger, 'XAU');
    await bench.ledger.symbols.upsert([{ ...gold, code: bench.symbol }], []);
  });
  return bench;
}

export class FeedBench {
  readonly server = new StubServer();
  ledger!: Ledger;
  key = '';
  runtime = fakeRuntime(NOW);

  get symbol(): string {
    return this.key.toUpperCase();
  }

  provider(changes: Partial<Provider> = {}): Provider {
    const series = [{ id: 'GOLD', symbol: this.symbol, currency: 'USD', unit: 'T.oz' }];
    return stubProvider(this.server.url, { key: this.key, series, ...changes });
  }

  parts(changes: Partial<RunnerParts> = {}): RunnerParts {
    const { signal } = new AbortController();
    return {
      ledger: this.ledger,
      providers: [],
      secrets: {},
      runtime: this.runtime,
      holder: 'me',
      signal,
      ...changes,
    };
  }

  run(options: RunOptions = {}, changes: Partial<Provider> = {}, secrets = {}, limits = FETCH_LIMITS) {
    return runFeed(this.provider(changes), this.parts({ secrets, limits }), options);
  }

  respond(body: string, headers: Record<string, string> = {}): void {
    this.server.respond = () => new Response(body, { headers });
  }

  async revisions(): Promise<BarRevision[]> {
    const { id } = await symbolOf(this.ledger, this.symbol);
    return this.ledger.bars.revisions(id, 'real', day('2000-01-01'), day('2199-01-01'));
  }

  async closes(): Promise<number[]> {
    return (await this.revisions()).map((bar) => bar.close);
  }

  async lastRun(): Promise<FeedRun> {
    return (await this.ledger.feeds.history(1, this.key))[0]!;
  }

  async health(now = this.runtime.time): Promise<FeedHealth> {
    return (await this.ledger.feeds.health(now)).find((feed) => feed.key === this.key)!;
  }
}
