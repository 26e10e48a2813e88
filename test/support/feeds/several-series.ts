import type { Provider } from '../../../src/feeds/provider.ts';
import type { RunResult } from '../../../src/feeds/run/run-record.ts';
import { type RunOptions, runFeed } from '../../../src/feeds/run/runner.ts';
import type { FeedHealth } from '../../../src/ledger/operations/feeds.ts';
import { symbolOf } from '../ledgers.ts';
import { type FeedBench, history } from './feed-bench.ts';

const IDS = ['GOLD', 'SILVER', 'TIN'];

/** A feed of three series. Its provider has a body for each of them, or one for all. */
export class SeveralSeries {
  readonly #bench: FeedBench;

  constructor(bench: FeedBench) {
    this.#bench = bench;
  }

  provider(bodies: 'each' | 'one', changes: Partial<Provider> = {}): Provider {
    const { url } = this.#bench.server;
    const series = IDS.map((id) => ({ id, symbol: this.code(id), currency: 'USD', unit: 'T.oz' }));
    const requests = (_secrets: unknown, since?: number) =>
      bodies === 'one'
        ? [{ url: `${url}/all.csv${since === undefined ? '' : '?since'}` }]
        : IDS.map((id) => ({ url: `${url}/${id}.csv${since === undefined ? '' : '?since'}`, series: id }));
    return this.#bench.provider({ series, requests, ...changes });
  }

  /** The symbol of a series. */
  readonly code = (id: string): string => `${this.#bench.symbol}-${id}`;

  readonly run = async (
    bodies: 'each' | 'one' = 'each',
    options: RunOptions = {},
    changes: Partial<Provider> = {},
  ): Promise<RunResult> => {
    const { ledger } = this.#bench;
    const { id: _, real: __, ...gold } = await symbolOf(ledger, 'XAU');
    await ledger.symbols.upsert(
      IDS.map((id) => ({ ...gold, code: this.code(id) })),
      [],
    );
    return (await runFeed(this.provider(bodies, changes), this.#bench.parts(), options))!;
  };

  /** How many bars of a series are published. */
  readonly bars = async (id: string): Promise<number> => {
    const { id: symbolId } = await symbolOf(this.#bench.ledger, this.code(id));
    return (await this.#bench.ledger.bars.revisions(symbolId, 'real', 0, 40_000)).length;
  };

  readonly health = (): Promise<FeedHealth> => this.#bench.health(this.#bench.runtime.now());

  /** Serves the rows as the body of each series, or a status where that is not 200. */
  readonly respond = (statuses: Record<string, number> = {}, rows = history()): void => {
    this.#bench.server.respond = (request) => {
      const id = seriesIn(request);
      const status = statuses[id] ?? 200;
      return new Response(status === 200 ? `date,${id}\n${rows.join('\n')}\n` : 'no', { status });
    };
  };
}

/** The series whose body a request asks for. */
export function seriesIn(request: Request): string {
  return /(\w+)\.csv/.exec(request.url)![1]!;
}
