import { join } from 'node:path';
import type { FileSeconds } from './plan.ts';

const PATH = join(import.meta.dir, 'times.json');
/** Shorter files make no difference to the plan. */
const LISTED_SECONDS_MIN = 2;

export async function readTimes(): Promise<FileSeconds> {
  return Bun.file(PATH).json();
}

/** One line for each file. */
export async function writeTimes(times: FileSeconds): Promise<void> {
  const lines = Object.entries(times)
    .filter(([, seconds]) => seconds >= LISTED_SECONDS_MIN)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([file, seconds]) => `  "${file}": ${Math.round(seconds)}`);
  await Bun.write(PATH, `{\n${lines.join(',\n')}\n}\n`);
}
