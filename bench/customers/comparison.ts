import { join } from 'node:path';
import { measure, type Request, WARM_UP_SECONDS } from '../lib/load.ts';
import { type FixedResponse, HAS_NGINX, startNginx } from '../lib/nginx.ts';
import { median, type Target } from '../lib/process.ts';
import { record } from '../lib/recorded.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
export const SECONDS = Number(process.env.SECONDS ?? 2);
const SAMPLES_PER_PATH = 51;
const WARM_UP_PASSES = 3;
/** Of two processes, chance decides which one gets a request: after this many passes, both have had nearly every one. */
const WARM_UP_PASSES_SHARED = 9;

type Sent = readonly { path: string; key?: string }[];

/** Writes the requests for the load generator. */
export async function recordedRequest(dir: string, name: string, requests: Sent): Promise<Request> {
  return { paths: [], recorded: await record(join(dir, `${name}.requests`), requests) };
}

/** nginx with one response per endpoint: the one of median length among a sample of the requests, with its headers. */
export async function nginxLike(target: Target, requests: Sent): Promise<Target | undefined> {
  if (!HAS_NGINX) return undefined;
  const byPath = Map.groupBy(requests, ({ path }) => path.split('?')[0]!);
  const responses: Record<string, FixedResponse> = {};
  for (const [path, sent] of byPath) {
    const samples = await Promise.all(sent.slice(0, SAMPLES_PER_PATH).map((one) => fetched(target, one)));
    samples.sort((a, b) => a.body.length - b.body.length);
    responses[path] = samples[Math.floor(samples.length / 2)]!;
  }
  return startNginx(responses);
}

async function fetched({ url }: Target, { path, key }: Sent[number]): Promise<FixedResponse> {
  const response = await fetch(url + path, {
    headers: { 'accept-encoding': 'identity', ...(key && { 'x-api-key': key }) },
  });
  const body = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${body}`);
  const headers = Object.fromEntries(
    [...response.headers].filter(([name]) => !/^(date|content-length|connection)$/.test(name)),
  );
  return { body, headers };
}

/** Sends every request a few times, however long it takes: then every account has a lease and every answer is cached. */
export async function warmUp(target: Target, request: Request): Promise<void> {
  const passes = target.pids.length > 1 ? WARM_UP_PASSES_SHARED : WARM_UP_PASSES;
  for (let count = 0; count < passes * request.recorded!.count; ) {
    count += (await measure(target, request, WARM_UP_SECONDS)).count;
  }
}

/** Requests per CPU-second of each target with its request: medians of interleaved rounds. The caller has warmed them up. */
export async function interleaved(
  sides: readonly { target: Target; request: Request }[],
  rounds = ROUNDS,
): Promise<number[]> {
  const samples = sides.map(() => [] as number[]);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { target, request }] of sides.entries()) {
      samples[i]!.push((await measure(target, request, SECONDS)).requestsPerCpuSecond);
    }
  }
  return samples.map(median);
}

export function share(own: number, other: number | undefined): string {
  return other === undefined ? '–' : (own / other).toFixed(2);
}
