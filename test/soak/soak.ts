import { readdirSync, readFileSync } from 'node:fs';
import { type Asked, ask, type Load } from './load.ts';

/** What is looked at, at one moment. */
export interface Sample {
  /** Seconds since the start. */
  at: number;
  heapMb: number;
  rssMb: number;
  fds: number;
  lagMs: number;
  /** Answers per second since the sample before. */
  perSecond: number;
}

export interface Soaked {
  samples: Sample[];
  answered: number;
  /** Answers that should not be, and connections that broke, by what they were. */
  errors: Map<string, number>;
}

const SAMPLES = 120;

/** Steady, mixed load on a program for a while, with a look at it every now and then. */
export async function soak(
  asked: Asked,
  seconds: number,
  onSample: (sample: Sample) => void = () => {},
): Promise<Soaked> {
  const load: Load = { answered: 0, errors: new Map() };
  const stop = new AbortController();
  const asking = ask(asked, load, stop.signal);
  const start = performance.now();
  const samples: Sample[] = [];
  const everyMs = Math.max(500, (seconds * 1000) / SAMPLES);
  let before = { at: 0, answered: 0 };
  while (performance.now() - start < seconds * 1000) {
    await Bun.sleep(everyMs);
    const at = (performance.now() - start) / 1000;
    const perSecond = (load.answered - before.answered) / (at - before.at);
    before = { at, answered: load.answered };
    samples.push({ at, perSecond, ...(await look(asked)) });
    onSample(samples.at(-1)!);
  }
  stop.abort();
  await asking;
  return { samples, answered: load.answered, errors: load.errors };
}

async function look({ program, token }: Asked): Promise<Omit<Sample, 'at' | 'perSecond'>> {
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

/** Into so many parts the time is cut; of each, the lowest sample counts. */
const PARTS = 10;

/**
 * By how much something grows after the first third, by the line that fits its floor best. Memory goes up and down with the
 * collection of garbage: what it comes down to is what is kept.
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

/** Garbage is collected when it is time for it; a leak that matters is more than this in minutes. */
const GROWS_SHARE = 0.1;
const GROWS_FDS = 3;

/** What is not flat, in words. */
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
