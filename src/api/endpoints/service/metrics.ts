import { reply } from '../../../http/message/reply.ts';
import type { AdminGuard } from '../../access/admin-guard.ts';
import { isLocalRequest } from '../../access/local-request.ts';
import { refuse } from '../../errors/errors.ts';
import type { OpenEndpoint } from '../../model/endpoint.ts';
import type { Metrics } from '../../telemetry/metrics.ts';

/** GET /metrics. It requires the admin token; without one configured (`guard` is undefined), only this machine may read it. */
export function metricsEndpoint(metrics: Metrics, guard: AdminGuard | undefined): OpenEndpoint {
  return {
    kind: 'open',
    name: 'other',
    path: '/metrics',
    async answer({ request, peer, address }) {
      if (guard) guard.require(request, address);
      else if (!isLocalRequest(request, peer)) throw refuse('invalid_admin_token', {});
      const type = 'text/plain; version=0.0.4; charset=utf-8';
      return reply(await metrics.scrape(), { 'Content-Type': type, 'Cache-Control': 'no-store' });
    },
  };
}
