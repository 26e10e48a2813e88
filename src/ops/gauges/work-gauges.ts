import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { Webhook } from '../../gate/webhook.ts';
import { LEDGER_OPERATIONS, type LedgerLatency } from '../../ledger/engine/latency.ts';
import type { FollowerLag } from '../follower-lag.ts';

/** Sources of the metrics about work outside of requests. */
export interface BackgroundWork {
  /** By thread. */
  latency: Readonly<Record<string, LedgerLatency>>;
  meter: Pick<Meter, 'syncLatency' | 'syncFailures'>;
  followerLag: FollowerLag;
  webhook: Webhook | undefined;
}

export function workGauges({ latency, meter, followerLag, webhook }: BackgroundWork): Gauge[] {
  const ledgerCalls = new Map(
    Object.entries(latency).flatMap(([thread, { histograms }]) =>
      LEDGER_OPERATIONS.map((one) => [`thread="${thread}",operation="${one}"`, histograms[one]] as const),
    ),
  );
  return [
    {
      name: 'openpit_ledger_seconds',
      help: 'Duration of calls to the ledger, including failed ones: reads, transactions with their waits, and flushes to disk.',
      type: 'histogram',
      value: () => ledgerCalls,
    },
    {
      name: 'openpit_meter_sync_seconds',
      help: 'Duration of calls that report counts to the ledger and lease units from it.',
      type: 'histogram',
      value: () => meter.syncLatency,
    },
    {
      name: 'openpit_meter_sync_failures_total',
      help: 'Metering calls that failed or timed out. Each is retried; no count is lost.',
      type: 'counter',
      value: () => meter.syncFailures,
    },
    {
      name: 'openpit_follower_lag_seconds',
      help: 'Age of the served prices, plans and keys, compared with the ledger.',
      value: () => followerLag.seconds,
    },
    {
      name: 'openpit_webhook_posts_total',
      help: 'Posts to the webhook. Failed posts are retried.',
      type: 'counter',
      value: () => webhook?.posts.counts ?? new Map(),
    },
  ];
}
