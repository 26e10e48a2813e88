import { type Reply, reply } from '../../../http/message/reply.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { OpenEndpoint } from '../../model/endpoint.ts';
import { ageSeconds, type Health, isReady } from '../../model/health.ts';
import { COMMON_HEADERS, JSON_TYPE } from '../../response/headers.ts';

export interface HealthOptions {
  health(): Health;
  version: string;
  clock: Clock;
}

/** GET /health/live, /health/ready, and /health, which is the same as /health/ready. */
export function healthEndpoints({ health, version, clock }: HealthOptions): OpenEndpoint[] {
  const readiness = () => readinessResponse(health(), version, clock.now());
  return [
    { kind: 'open', name: 'other', path: '/health/live', answer: liveResponse },
    { kind: 'open', name: 'other', path: '/health', answer: readiness },
    { kind: 'open', name: 'other', path: '/health/ready', answer: readiness },
  ];
}

const HEALTH_HEADERS = { ...COMMON_HEADERS, 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' };

/** Liveness: a process that responds at all is alive, whatever the state of its ledger. */
function liveResponse(): Reply {
  return reply('{"status":"live"}', HEALTH_HEADERS);
}

/** Readiness: 200 if requests are answered; 503 while starting, draining or without a usable ledger. */
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
