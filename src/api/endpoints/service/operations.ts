import { type Reply, reply } from '../../../http/message/reply.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { refuse } from '../../errors/errors.ts';
import type { Asked, OpenEndpoint } from '../../model/endpoint.ts';
import type { AdminGuard } from '../../pipeline/admin-guard.ts';
import { isLocalRequest } from '../../pipeline/local-request.ts';
import { COMMON_HEADERS, JSON_TYPE } from '../../response/headers.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** Where the service is between start and stop. */
export type Phase = 'starting' | 'ready' | 'draining';

export interface Health {
  phase: Phase;
  /** Whether requests that need the ledger would fail: it cannot be reached, or is damaged. */
  isLedgerUnusable: boolean;
  /** The names of all alarms. */
  alarms: readonly string[];
  revision: number;
  /** The time of the newest price itself, in ms; undefined while there is none. */
  newestPriceAt: number | undefined;
  /** When a price was last written, in ms, whatever day it is of. */
  newestWriteAt: number | undefined;
  /** Whether simulated prices are being served. */
  simulated: boolean;
  /** Keys of feeds that have missed their schedule twice. */
  lateFeeds: readonly string[];
  /** Keys of feeds of which some series fail. */
  partialFeeds: readonly string[];
  /** Whether there is so little room that no prices are taken in. */
  diskFull: boolean;
}

/** What is not part of the interface, at the root alone. */
export function operations(options: {
  health(): Health;
  version: string;
  clock: Clock;
  /** Undefined when there is no admin token. */
  guard: AdminGuard | undefined;
  metrics: Metrics;
}): OpenEndpoint[] {
  const { health, version, clock, guard, metrics } = options;
  return [
    { kind: 'open', name: 'other', path: '/health/live', answer: liveResponse },
    ...['/health', '/health/ready'].map(
      (path): OpenEndpoint => ({
        kind: 'open',
        name: 'other',
        path,
        answer: () => readinessResponse(health(), version, clock.now()),
      }),
    ),
    {
      kind: 'open',
      name: 'other',
      path: '/metrics',
      answer: (asked) => metricsResponse(asked, guard, metrics),
    },
  ];
}

const HEALTH_HEADERS = { ...COMMON_HEADERS, 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' };

/** Whether a request would be answered. */
export function isReady({ phase, isLedgerUnusable }: Health): boolean {
  return phase === 'ready' && !isLedgerUnusable;
}

/** Liveness. A process that answers at all is alive, whatever its ledger does. */
function liveResponse(): Reply {
  return reply('{"status":"live"}', HEALTH_HEADERS);
}

/** Readiness: 200 when requests are answered, 503 while starting or draining and without the ledger. */
function readinessResponse(health: Health, version: string, now: number): Reply {
  const ready = isReady(health);
  const body = {
    status: health.phase === 'ready' && !ready ? 'unavailable' : health.phase,
    ready,
    version,
    revision: health.revision,
    newestDataAgeSeconds: ageSeconds(health.newestPriceAt, now),
    newestWriteAgeSeconds: ageSeconds(health.newestWriteAt, now),
    simulated: health.simulated,
    alarms: health.alarms,
    lateFeeds: health.lateFeeds,
    partialFeeds: health.partialFeeds,
    diskFull: health.diskFull,
  };
  if (ready) return reply(JSON.stringify(body), HEALTH_HEADERS);
  return reply(JSON.stringify(body), { ...HEALTH_HEADERS, 'Retry-After': '1' }, 503);
}

/** Whole seconds since a moment; null when there is none. A bar of a session that is not over is 0 s old. */
export function ageSeconds(at: number | undefined, now: number): number | null {
  return at === undefined ? null : Math.max(0, Math.floor((now - at) / 1000));
}

/** With an admin token, for whoever has it; without one, for this machine. */
async function metricsResponse(
  { request, peer, address }: Asked,
  guard: AdminGuard | undefined,
  metrics: Metrics,
): Promise<Reply> {
  if (guard) guard.require(request, address);
  else if (!isLocalRequest(request, peer)) throw refuse('invalid_admin_token', {});
  const type = 'text/plain; version=0.0.4; charset=utf-8';
  return reply(await metrics.scrape(), { 'Content-Type': type, 'Cache-Control': 'no-store' });
}
