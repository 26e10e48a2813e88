import { quantileMs } from '../../../runtime/metrics/histogram.ts';
import type { AdminEndpoint } from '../../model/endpoint.ts';
import type { ShareTexts } from '../../telemetry/sharing.ts';
import { mergeTraffic, type TrafficHistory, type TrafficMinute } from '../../telemetry/traffic-history.ts';
import { adminEndpoint } from '../admin-endpoint.ts';

/** GET /admin/traffic: requests, errors, latency and lag of the last hours by minute, over all processes on this port. */
export function adminTraffic(history: TrafficHistory, share?: ShareTexts): AdminEndpoint {
  const render = () => JSON.stringify(history.read());
  const collect = share?.(render) ?? (async () => [render()]);
  return adminEndpoint('/admin/traffic', {
    async GET() {
      const texts = await collect();
      const minutes = mergeTraffic(texts.map((text) => JSON.parse(text) as TrafficMinute[]));
      return { success: true, processes: texts.length, minutes: minutes.map(record) };
    },
  });
}

function record({ at, requests, refused, failed, latency, lagSeconds }: TrafficMinute) {
  return {
    at: new Date(at).toISOString(),
    requests,
    refused,
    failed,
    p50Ms: quantileMs(latency, 0.5),
    p99Ms: quantileMs(latency, 0.99),
    lagSeconds: Math.round(lagSeconds * 1_000) / 1_000,
  };
}
