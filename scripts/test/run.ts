/**
 * `npm test`: the check, the audit, and every test, in parallel processes. The output ends with every failure and the
 * counts. `--save-times` records how long each file took, for the next plan.
 *
 * `npm run test:quick`: rules, API and contract tests on SQLite, security.
 *
 * `npm test -- path…`: what `bun test` does with these arguments.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createDataFolder } from '../../test/support/replication/data-folder.ts';
import { audit } from '../audit.ts';
import { capture } from './capture.ts';
import { findTestFiles, planAll, planQuick } from './plan.ts';
import { addResults, noResults, type Results, runJobs, TEST_MS_MAX } from './pool.ts';
import { failureOf, formatFailures } from './report.ts';
import { readTimes, writeTimes } from './times.ts';

/** Tests wait for processes and databases more than they compute. */
const WORKERS_PER_CORE = 2;
const WORKERS = WORKERS_PER_CORE * availableParallelism();
const SCRIPT_MS_MAX = 5 * 60_000;

const args = process.argv.slice(2);
const [mode] = args;
if (mode === undefined || mode === '--save-times') {
  const results = await runAll();
  if (mode === '--save-times') await writeTimes(results.fileMs);
  finish(results);
} else if (mode === '--quick') {
  finish(await runJobs(planQuick(findTestFiles(), await readTimes()), WORKERS));
} else {
  const command = ['bun', 'test', '--timeout', String(TEST_MS_MAX), ...args];
  process.exit(Bun.spawnSync(command, { stdio: ['inherit', 'inherit', 'inherit'] }).exitCode);
}

async function runAll(): Promise<Results> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-run-'));
  chmodSync(folder, 0o755); // as root, PostgreSQL runs as another user and must get in
  const program = join(folder, 'openpit');
  const postgres = join(folder, 'postgres');
  const results = noResults();
  const checks = Promise.all([runScript('check'), runAudit()]);
  const [built] = await Promise.all([runScript('build', program), createDataFolder(postgres)]);
  const jobs = planAll(findTestFiles(), await readTimes(), { program, postgres });
  addResults(results, built);
  addResults(results, await runJobs(jobs, WORKERS));
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

function finish({ passed, failed, failures }: Results): never {
  if (failures.length > 0) console.log(`\n${formatFailures(failures)}\n`);
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
