/**
 * `npm test`: the check, the audit, every test, then the process tests once more against the single-file build. The last
 * line says how many passed and failed. Arguments go to `bun test`, and leave the second pass out.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from './audit.ts';

/** A test that needs a process or a database waits longer on a busy machine than Bun's 5 s. */
const TIMEOUT_MS = '60000';

const counts = { passed: 0, failed: 0 };

count(run(['bun', 'scripts/check.ts']));

const audited = await audit();
if (audited.outcome === 'not asked') console.log(`not asked: the audit (${audited.why})`);
else {
  console.log(audited.outcome === 'clean' ? 'ok     audit' : `FAILED audit: ${audited.names.join(', ')}`);
  count(audited.outcome === 'clean');
}

const paths = process.argv.slice(2);
await runTests(paths);
if (paths.length === 0) await runAgainstSingleFile();

console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);

/** What ships in the Dockerfile and the systemd unit is the single-file build; it has to do all that the source does. */
async function runAgainstSingleFile(): Promise<void> {
  const program = join(tmpdir(), `openpit-test-${process.pid}`);
  const built = run(['bun', 'scripts/build.ts', program]);
  if (!built) return count(false);
  const files = [...new Bun.Glob('test/process/**/*.test.ts').scanSync()]
    .filter((file) => !file.includes('/faults/')) // they take as long as all others together
    .map((file) => `./${file}`)
    .sort();
  await runTests(files, { OPENPIT_TEST_PROGRAM: program });
  await Bun.file(program).delete();
}

async function runTests(args: readonly string[], settings: Record<string, string> = {}): Promise<void> {
  const tests = Bun.spawn(['bun', 'test', '--timeout', TIMEOUT_MS, ...args], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'inherit', 'pipe'],
  });
  let report = '';
  for await (const chunk of tests.stderr.pipeThrough(new TextDecoderStream())) {
    process.stderr.write(chunk);
    report += chunk;
  }
  const failed = countOf(report, 'fail');
  counts.passed += countOf(report, 'pass');
  counts.failed += failed;
  if ((await tests.exited) !== 0 && failed === 0) count(false); // for example a file that could not be loaded
}

function run(command: string[]): boolean {
  return Bun.spawnSync(command, { stdio: ['ignore', 'inherit', 'inherit'] }).exitCode === 0;
}

function count(ok: boolean): void {
  if (ok) counts.passed++;
  else counts.failed++;
}

/** Bun's summary has a line such as " 123 pass". */
function countOf(report: string, word: string): number {
  const plain = Bun.stripANSI(report);
  return Number([...plain.matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0);
}
