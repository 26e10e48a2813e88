import { join } from 'node:path';

/**
 * Sends a file of recorded requests at a fixed rate, by a program of its own on the load generator's core. Durations in ms,
 * sorted, each from the moment the request was due.
 */
export async function sendOnSchedule(
  url: string,
  file: string,
  perSecond: number,
  seconds: number,
): Promise<{ times: Float64Array; isWhole: boolean }> {
  const client = Bun.spawn(
    ['taskset', '-c', '1', 'bun', join(import.meta.dir, 'timetable.ts')].concat(
      JSON.stringify({ url, file, perSecond, seconds }),
    ),
    { stdout: 'pipe' },
  );
  const times = new Float64Array(await new Response(client.stdout).arrayBuffer()).sort();
  return { times, isWhole: (await client.exited) === 0 };
}
