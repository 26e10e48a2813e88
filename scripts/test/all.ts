import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { browserPath } from '../../test/browser/browser.ts';
import { createDemo } from '../../test/support/database/demo-folder.ts';
import { sharePostgres } from '../../test/support/database/ready-ledger.ts';
import { stopPostgres } from '../../test/support/postgres.ts';
import { createDataFolder } from '../../test/support/replication/data-folder.ts';
import { audit } from '../audit.ts';
import { capture } from './capture.ts';
import { findTestFiles, planAll } from './plan.ts';
import { addResults, noResults, type Results, runJobs } from './pool.ts';
import { failureOf } from './report.ts';
import type { Capacity } from './schedule.ts';
import { readTimes } from './times.ts';

const SCRIPT_MS_MAX = 5 * 60_000;

/** The check, the audit and every test. */
export async function runAll(capacity: Capacity): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-run-'));
  chmodSync(folder, 0o755); // as root, PostgreSQL runs as another user and must get in
  const [program, postgres, demo] = ['openpit', 'postgres', 'demo'].map((name) => join(folder, name));
  const results = noResults();
  const checks = Promise.all([runScript('check'), runAudit()]);
  const [built, shared] = await Promise.all([
    runScript('build', program!),
    sharePostgres(),
    createDataFolder(postgres!),
    createDemo(demo!),
    unpackBrowser(),
  ]);
  const settings = { OPENPIT_TEST_POSTGRES: postgres!, OPENPIT_TEST_DEMO: demo!, ...shared };
  const jobs = planAll(findTestFiles(), await readTimes(), settings, program!);
  addResults(results, built);
  addResults(results, await runJobs(jobs, capacity));
  await stopPostgres();
  for (const check of await checks) addResults(results, check);
  rmSync(folder, { recursive: true });
  return results;
}

/** Runs one of the other scripts, which counts as one test. */
async function runScript(name: string, ...parameters: string[]): Promise<Partial<Results>> {
  const command = ['bun', `scripts/${name}.ts`, ...parameters];
  const { exitCode, output } = await capture(command, { msMax: SCRIPT_MS_MAX });
  process.stdout.write(output);
  if (exitCode === 0) return { passed: 1 };
  return { failed: 1, failures: [failureOf(`scripts/${name}.ts`, `npm run ${name}`, output)] };
}

async function runAudit(): Promise<Partial<Results>> {
  const result = await audit();
  if (result.outcome === 'not asked') {
    console.log(`not asked: the audit (${result.why})`);
    return {};
  }
  console.log(result.outcome === 'clean' ? 'ok     audit' : `FAILED audit: ${result.names.join(', ')}`);
  if (result.outcome === 'clean') return { passed: 1 };
  return { failed: 1, failures: [failureOf('scripts/audit.ts', 'npm run audit', result.names.join('\n'))] };
}

/** npm's Chromium unpacks itself when its path is first asked for; not in two processes at once. */
async function unpackBrowser(): Promise<void> {
  await browserPath().catch((error) => console.log(`no browser: ${error}`));
}
