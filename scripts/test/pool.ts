import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture } from './capture.ts';
import type { Job } from './plan.ts';
import { type Failure, failureOf, parseReport, type Report } from './report.ts';
import { type Capacity, runScheduled } from './schedule.ts';
import { StallMonitor } from './stalls.ts';

/** Ends a test that hangs. Far longer than any test takes, also on a busy machine. */
export const TEST_MS_MAX = 180_000;
/** Longer than any job takes. A job that hangs is killed, and fails. */
const JOB_MS_MAX = 10 * 60_000;

export interface Results extends Report {
  /** How long each file took, in seconds, unless its process crashed. */
  times: Record<string, number>;
  /** Failures while the machine stood still. The jobs were run again. */
  repeated: Failure[];
}

export function noResults(): Results {
  return { passed: 0, failed: 0, failures: [], times: {}, repeated: [] };
}

export function addResults(to: Results, more: Partial<Results>): void {
  to.passed += more.passed ?? 0;
  to.failed += more.failed ?? 0;
  to.failures.push(...(more.failures ?? []));
  to.repeated.push(...(more.repeated ?? []));
  for (const [file, seconds] of Object.entries(more.times ?? {})) {
    to.times[file] = Math.max(seconds, to.times[file] ?? 0); // some run twice, with other settings
  }
}

/**
 * Runs jobs, as many at a time as the machine has room for, then those that run alone. A job that failed while the machine
 * stood still is run again at the end, alone: then its result counts.
 */
export async function runJobs(jobs: readonly Job[], capacity: Capacity): Promise<Results> {
  const results = noResults();
  const monitor = new StallMonitor();
  const watching = monitor.start();
  const again: Job[] = [];
  const run = async (job: Job) => {
    const start = performance.now();
    const result = await runJob(job);
    const stallMs = monitor.longestSince(start);
    if (result.failed === 0 || stallMs === 0) return addResults(results, result);
    again.push(job);
    results.repeated.push(...result.failures);
    const seconds = (stallMs / 1_000).toFixed(1);
    console.log(
      `The machine stood still for ${seconds} s meanwhile; run again later: ${job.files.join(' ')}\n`,
    );
  };
  await runScheduled(
    jobs.filter(({ isAlone }) => !isAlone),
    capacity,
    run,
  );
  for (const job of jobs.filter(({ isAlone }) => isAlone)) await run(job);
  watching.stop();
  for (const job of again) addResults(results, await runJob(job));
  return results;
}

/** Prints the output of the job in one piece when it has ended. */
async function runJob({ files, settings }: Job): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-job-'));
  const times = join(folder, 'times.json');
  const flags = ['--no-orphans', '--timeout', String(TEST_MS_MAX), `--timings=${times}`, '--update-timings'];
  const paths = files.map((file) => `./${file}`); // without ./ it would match any path that contains it
  const { exitCode, output, cpuSeconds } = await capture(['bun', 'test', ...flags, ...paths], {
    settings,
    msMax: JOB_MS_MAX,
  });
  process.stdout.write(`${output}CPU time: ${cpuSeconds.toFixed(1)} s\n\n`);
  const results = { ...noResults(), ...parseReport(output), times: fileSeconds(times) };
  rmSync(folder, { recursive: true });
  if (exitCode !== 0 && results.failed === 0) {
    const failures = [failureOf(files.join(' '), `bun test: exit code ${exitCode}`, output)];
    addResults(results, { failed: 1, failures });
  }
  return results;
}

/** What each file took, by Bun's report, which is missing after a crash. */
function fileSeconds(path: string): Record<string, number> {
  if (!existsSync(path)) return {};
  const { files } = JSON.parse(readFileSync(path, 'utf8')) as { files: Record<string, number> };
  return Object.fromEntries(Object.entries(files).map(([file, ms]) => [file, ms / 1_000]));
}
