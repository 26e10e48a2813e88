import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture } from './capture.ts';
import type { Job } from './plan.ts';
import { failureOf, parseReport, type Report } from './report.ts';

/** Ends a test that hangs. Far longer than any test takes, also on a busy machine. */
export const TEST_MS_MAX = 180_000;
/** Longer than any job takes. A job that hangs is killed, and fails. */
const JOB_MS_MAX = 10 * 60_000;

export interface Results extends Report {
  /** How long each file took. */
  fileMs: Record<string, number>;
}

export function noResults(): Results {
  return { passed: 0, failed: 0, failures: [], fileMs: {} };
}

export function addResults(to: Results, more: Partial<Results>): void {
  to.passed += more.passed ?? 0;
  to.failed += more.failed ?? 0;
  to.failures.push(...(more.failures ?? []));
  Object.assign(to.fileMs, more.fileMs);
}

/** Runs jobs, `workers` at a time, then those that run alone. */
export async function runJobs(jobs: readonly Job[], workers: number): Promise<Results> {
  const [alone, others] = [jobs.filter(({ isAlone }) => isAlone), jobs.filter(({ isAlone }) => !isAlone)];
  const results = await runSideBySide(others, workers);
  addResults(results, await runSideBySide(alone, 1));
  return results;
}

async function runSideBySide(jobs: readonly Job[], workers: number): Promise<Results> {
  const results = noResults();
  const waiting = [...jobs];
  const work = async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) addResults(results, await runJob(job));
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

/** Prints the output of the job in one piece when it has ended. */
async function runJob({ files, settings }: Job): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-job-'));
  const times = join(folder, 'times.json');
  const flags = ['--no-orphans', '--timeout', String(TEST_MS_MAX), `--timings=${times}`, '--update-timings'];
  const paths = files.map((file) => `./${file}`); // without ./ it would match any path that contains it
  const { exitCode, output } = await capture(['bun', 'test', ...flags, ...paths], {
    settings,
    msMax: JOB_MS_MAX,
  });
  process.stdout.write(`${output}\n`);
  const results = { ...parseReport(output), fileMs: readTimes(times) };
  rmSync(folder, { recursive: true });
  if (exitCode !== 0 && results.failed === 0) {
    const failures = [failureOf(files.join(' '), `bun test: exit code ${exitCode}`, output)];
    addResults(results, { failed: 1, failures });
  }
  return results;
}

/** Empty after a crash. */
function readTimes(path: string): Record<string, number> {
  try {
    return (JSON.parse(readFileSync(path, 'utf8')) as { files: Record<string, number> }).files;
  } catch {
    return {};
  }
}
