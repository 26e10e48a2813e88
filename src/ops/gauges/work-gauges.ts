import type { Gauge } from '../../api/telemetry/metrics.ts';
import type { Meter } from '../../gate/meter/meter.ts';
import type { Webhook } from '../../gate/webhook.ts';
import { LEDGER_OPERATIONS, type LedgerLatency } from '../../ledger/engine/latency.ts';
import type { FollowerLag } from '../follower-lag.ts';

/** The work that goes on beside requests. */
export interface Work {
  /** By thread. */
  latency: Readonly<Record<string, LedgerLatency>>;
  meter: Pick<Meter, 'syncLatency' | 'syncFailures'>;
  followerLag: FollowerLag;
  webhook: Webhook | undefined;
}

export function workGauges({ latency, meter, followerLag, webhook }: Work): Gauge[] {
  const ledgerCalls = new Map(
    Object.entries(latency).flatMap(([thread, { histograms }]) =>
      LEDGER_OPERATIONS.map((one) => [`thread="${thread}",operation="${one}"`, histograms[one]] as const),
    ),
  );
  return [
    {
      name: 'openpit_ledger_seconds',
      help: 'Time of calls to the ledger, failed ones included: reads, transactions with their wait, and flushes to the disk.',
      type: 'histogram',
      value: () => ledgerCalls,
    },
    {
      name: 'openpit_meter_sync_seconds',
      help: 'Time of calls that report counts to the ledger and lease units from it.',
      type: 'histogram',
      value: () => meter.syncLatency,
    },
    {
      name: 'openpit_meter_sync_failures_total',
      help: 'Such calls that failed or were not answered in time. Each is sent again; no count is lost.',
      type: 'counter',
      value: () => meter.syncFailures,
    },
    {
      name: 'openpit_follower_lag_seconds',
      help: 'How old the prices, plans and keys are that are served, compared with the ledger.',
      value: () => followerLag.seconds,
    },
    {
      name: 'openpit_webhook_posts_total',
      help: 'Posts to the webhook. A failed one is tried again.',
      type: 'counter',
      value: () => webhook?.posts.counts ?? new Map(),
    },
  ];
}
