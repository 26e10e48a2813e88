import { percentile } from '../percentile.ts';

/** Response times, in ms. */
export interface Latency {
  answers: number;
  /** Requests with another status, or without a response. */
  failed: number;
  p50: number;
  p99: number;
}

/** Sends requests over several connections for a while, one after the other on each. */
export async function latencyOf(
  url: string,
  key: string,
  { connections, ms }: { connections: number; ms: number },
): Promise<Latency> {
  const took: number[] = [];
  let failed = 0;
  const end = performance.now() + ms;
  const client = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      const response = await fetch(url, { headers: { 'x-api-key': key } }).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.status === 200) took.push(performance.now() - start);
      else failed++;
    }
  };
  await Promise.all(Array.from({ length: connections }, client));
  return { answers: took.length, failed, p50: percentile(took, 0.5), p99: percentile(took, 0.99) };
}
