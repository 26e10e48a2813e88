import { readdirSync, readFileSync } from 'node:fs';
import { type Load, type LoadTarget, runLoad } from './load.ts';

/** One measurement of the program. */
export interface Sample {
  /** Seconds since the start. */
  at: number;
  heapMb: number;
  rssMb: number;
  fds: number;
  lagMs: number;
  /** Answers per second since the previous sample. */
  perSecond: number;
}

export interface Soaked {
  samples: Sample[];
  answered: number;
  /** Unexpected answers and broken connections, with the number of each kind. */
  errors: Map<string, number>;
}

const SAMPLES = 120;

/** Puts steady, mixed load on a program, and measures it periodically. */
export async function soak(
  target: LoadTarget,
  seconds: number,
  onSample: (sample: Sample) => void = () => {},
): Promise<Soaked> {
  const load: Load = { answered: 0, errors: new Map() };
  const stop = new AbortController();
  const loading = runLoad(target, load, stop.signal);
  const start = performance.now();
  const samples: Sample[] = [];
  const everyMs = Math.max(500, (seconds * 1000) / SAMPLES);
  let before = { at: 0, answered: 0 };
  while (performance.now() - start < seconds * 1000) {
    await Bun.sleep(everyMs);
    const at = (performance.now() - start) / 1000;
    const perSecond = (load.answered - before.answered) / (at - before.at);
    before = { at, answered: load.answered };
    samples.push({ at, perSecond, ...(await measure(target)) });
    onSample(samples.at(-1)!);
  }
  stop.abort();
  await loading;
  return { samples, answered: load.answered, errors: load.errors };
}

async function measure({ program, token }: LoadTarget): Promise<Omit<Sample, 'at' | 'perSecond'>> {
  const metrics = await program.metrics(token);
  const gauge = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  return {
    heapMb: gauge('openpit_heap_bytes') / 1024 ** 2,
    lagMs: gauge('openpit_event_loop_lag_max_seconds') * 1000,
    rssMb: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024,
    fds: readdirSync(`/proc/${program.pid}/fd`).length,
  };
}

/** The run is divided into this many parts. The lowest sample of each part counts. */
const PARTS = 10;

/**
 * How much a value grows after the first third, by the line that fits its minima best. Memory rises and falls with garbage
 * collection, so only the minima show what is retained.
 */
export function growth(
  samples: readonly Sample[],
  of: (sample: Sample) => number,
): { from: number; by: number } {
  const steady = samples.slice(Math.floor(samples.length / 3));
  const perPart = Math.max(1, Math.floor(steady.length / PARTS));
  const floor: Sample[] = [];
  for (let from = 0; from + perPart <= steady.length; from += perPart) {
    const part = steady.slice(from, from + perPart);
    floor.push(part.reduce((lowest, one) => (of(one) < of(lowest) ? one : lowest)));
  }
  const [xs, ys] = [floor.map(({ at }) => at), floor.map(of)];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(xs), mean(ys)];
  const slope =
    xs.reduce((sum, one, i) => sum + (one - x) * (ys[i]! - y), 0) /
    xs.reduce((sum, one) => sum + (one - x) ** 2, 0);
  const span = xs.at(-1)! - xs[0]!;
  return { from: y - (slope * span) / 2, by: slope * span };
}

/** Minima vary because garbage collection has no fixed schedule. A relevant leak grows by more than this within minutes. */
const GROWS_SHARE = 0.1;
const GROWS_FDS = 3;

/** Describes every value that grows. */
export function notFlat(samples: readonly Sample[]): string[] {
  const found: string[] = [];
  for (const [name, of] of [
    ['heap', ({ heapMb }: Sample) => heapMb],
    ['memory', ({ rssMb }: Sample) => rssMb],
  ] as const) {
    const { from, by } = growth(samples, of);
    if (by > from * GROWS_SHARE) found.push(`${name} grows from ${from.toFixed(0)} by ${by.toFixed(1)} MB`);
  }
  const fds = growth(samples, (sample) => sample.fds);
  if (fds.by > GROWS_FDS)
    found.push(`file descriptors grow from ${fds.from.toFixed(0)} by ${fds.by.toFixed(1)}`);
  return found;
}
