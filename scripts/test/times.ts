import { join } from 'node:path';
import type { FileTime, FileTimes } from './plan.ts';

const PATH = join(import.meta.dir, 'times.json');
/** Shorter files make no difference to the plan. */
const LISTED_SECONDS_MIN = 2;

export async function readTimes(): Promise<FileTimes> {
  return Bun.file(PATH).json();
}

/** One line for each file. */
export async function writeTimes(times: FileTimes): Promise<void> {
  const lines = Object.entries(times)
    .map(([file, time]) => [file, rounded(time)] as const)
    .filter(([, { seconds }]) => seconds >= LISTED_SECONDS_MIN)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(
      ([file, { seconds, cpuSeconds }]) =>
        `  "${file}": { "seconds": ${seconds}, "cpuSeconds": ${cpuSeconds} }`,
    );
  await Bun.write(PATH, `{\n${lines.join(',\n')}\n}\n`);
}

function rounded({ seconds, cpuSeconds }: FileTime): FileTime {
  return { seconds: Math.round(seconds), cpuSeconds: Math.round(cpuSeconds * 10) / 10 };
}
