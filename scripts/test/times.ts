import { join } from 'node:path';
import type { FileTimes } from './plan.ts';

const PATH = join(import.meta.dir, 'times.json');
/** Shorter files make no difference to the plan. */
const LISTED_SECONDS_MIN = 2;

export async function readTimes(): Promise<FileTimes> {
  return Bun.file(PATH).json();
}

export async function writeTimes(fileMs: Readonly<Record<string, number>>): Promise<void> {
  const seconds = Object.entries(fileMs)
    .map(([file, ms]) => [file, Math.round(ms / 1_000)] as const)
    .filter(([, seconds]) => seconds >= LISTED_SECONDS_MIN)
    .sort(([a], [b]) => a.localeCompare(b));
  await Bun.write(PATH, `${JSON.stringify(Object.fromEntries(seconds), null, 2)}\n`);
}
