import type { EndedRun, RunStatus } from '../../ledger/operations/feed-runs.ts';
import type { Push, PushOutcome } from '../../ledger/prices/pushes.ts';
import { Counters } from '../../runtime/metrics/counters.ts';
import { Histogram } from '../../runtime/metrics/histogram.ts';
import type { Gauge } from './metrics.ts';

const KINDS = ['ticks', 'bars'] as const satisfies Push['kind'][];
const OUTCOMES = [
  'accepted',
  'corrected',
  'duplicate',
  'quarantined',
  'refused',
] as const satisfies PushOutcome['status'][];
const RUN_STATUSES = ['ok', 'unchanged', 'partial', 'failed', 'quarantined'] as const satisfies RunStatus[];

export type OutcomeCounts = Record<PushOutcome['status'], number>;

/** Metrics of prices received by this process: pushed by the operator, or fetched by its feeds. */
export class IngestMetrics {
  readonly #records = new Counters(
    [...KINDS.map((kind) => ['push', kind] as const), ['feed', 'bars'] as const].flatMap(([via, kind]) =>
      OUTCOMES.map((outcome) => recordLabels(via, kind, outcome)),
    ),
  );
  readonly #pushes: ReadonlyMap<string, Histogram> = new Map(
    KINDS.map((kind) => [`kind="${kind}"`, new Histogram()]),
  );
  readonly #failedPushes = new Counters(KINDS.map((kind) => `kind="${kind}"`));
  readonly #runs = new Counters();

  /** Times a push until it is durable or has failed. */
  async timePush<T>(kind: Push['kind'], push: () => Promise<T>): Promise<T> {
    const labels = `kind="${kind}"`;
    const start = performance.now();
    try {
      return await push();
    } catch (error) {
      this.#failedPushes.add(labels);
      throw error;
    } finally {
      this.#pushes.get(labels)!.add(performance.now() - start);
    }
  }

  countPushed(kind: Push['kind'], outcomes: OutcomeCounts): void {
    this.#countRecords('push', kind, outcomes);
  }

  countRun({ feed, status, taken, corrected, unchanged, held, refused }: EndedRun): void {
    for (const one of RUN_STATUSES) this.#runs.add(`feed="${feed}",status="${one}"`, Number(one === status));
    const outcomes = { accepted: taken, corrected, duplicate: unchanged, quarantined: held, refused };
    this.#countRecords('feed', 'bars', outcomes);
  }

  gauges(): Gauge[] {
    return [
      {
        name: 'openpit_ingested_records_total',
        help: 'Ticks and bars received, by channel, kind and outcome.',
        type: 'counter',
        value: () => this.#records.counts,
      },
      {
        name: 'openpit_push_seconds',
        help: 'Time until a push is durable in the ledger.',
        type: 'histogram',
        value: () => this.#pushes,
      },
      {
        name: 'openpit_push_failures_total',
        help: 'Pushes that failed entirely and have to be sent again.',
        type: 'counter',
        value: () => this.#failedPushes.counts,
      },
      {
        name: 'openpit_feed_runs_total',
        help: 'Feed runs in this process, by status.',
        type: 'counter',
        value: () => this.#runs.counts,
      },
    ];
  }

  #countRecords(via: 'push' | 'feed', kind: Push['kind'], outcomes: OutcomeCounts): void {
    for (const outcome of OUTCOMES) this.#records.add(recordLabels(via, kind, outcome), outcomes[outcome]);
  }
}

function recordLabels(via: string, kind: string, outcome: string): string {
  return `via="${via}",kind="${kind}",outcome="${outcome}"`;
}
