/**
 * `npm test`: the check, the audit, and every test, in parallel processes. The output ends with every failure, also of those
 * that passed when they were run again, the counts and the time. `-- --save-times` records how long each file took, for the next plan.
 *
 * `npm run test:quick`: rules, API and contract tests on SQLite, security.
 *
 * `npm test -- path…`: what `bun test` does with these arguments.
 */
import { availableParallelism } from 'node:os';
import { childrenCpuMs } from './cpu-time.ts';
import { findTestFiles, planQuick } from './plan.ts';
import { type Results, runJobs, TEST_MS_MAX } from './pool.ts';
import { formatFailures } from './report.ts';
import { hasSpareTime } from './schedule.ts';
import { readTimes, writeTimes } from './times.ts';

const CORES = availableParallelism();
/** Tests wait for processes and databases more than they compute. */
const CAPACITY = { jobsMin: CORES, jobsMax: 5 * CORES, hasSpareTime };

const args = process.argv.slice(2);
const [mode] = args;
if (mode === undefined || mode === '--save-times') {
  const { runAll } = await import('./all.ts'); // loads a browser's driver, which the other modes do not need
  const results = await runAll(CAPACITY);
  if (mode === '--save-times') await writeTimes(results.times);
  finish(results);
} else if (mode === '--quick') {
  finish(await runJobs(planQuick(findTestFiles(), await readTimes()), CAPACITY));
} else {
  const command = ['bun', 'test', '--timeout', String(TEST_MS_MAX), ...args];
  process.exit(Bun.spawnSync(command, { stdio: ['inherit', 'inherit', 'inherit'] }).exitCode);
}

function finish({ passed, failed, failures, repeated }: Results): never {
  for (const { file, name } of repeated) {
    console.log(`FAILED ONCE, while the machine stood still: ${file} > ${name}`);
  }
  if (failures.length > 0) console.log(`\n${formatFailures(failures)}\n`);
  const minutes = (ms: number) => (ms / 60_000).toFixed(1);
  const cpu = childrenCpuMs();
  const time = `${minutes(performance.now())} minutes${cpu === undefined ? '' : `, ${minutes(cpu)} of CPU time`}`;
  console.log(`${passed} passed, ${failed} failed, in ${time}`);
  process.exit(failed === 0 ? 0 : 1);
}
