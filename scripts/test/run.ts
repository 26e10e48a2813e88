/**
 * `npm test`: the check, the audit, every test, then the process tests once more against the single-file build. The output
 * ends with every failure and the counts. Arguments go to `bun test`, and leave the second pass out.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { audit } from '../audit.ts';
import { type Failure, formatFailures, lastLines, TestReport } from './report.ts';

/** A test that needs a process or a database waits longer on a busy machine than Bun's 5 s. */
const TIMEOUT_MS = '60000';

const counts = { passed: 0, failed: 0 };
const failures: Failure[] = [];

await runScript('npm run check', ['scripts/check.ts']);

const audited = await audit();
if (audited.outcome === 'not asked') console.log(`not asked: the audit (${audited.why})`);
else {
  console.log(audited.outcome === 'clean' ? 'ok     audit' : `FAILED audit: ${audited.names.join(', ')}`);
  count('npm run audit', audited.outcome === 'clean');
}

const paths = process.argv.slice(2);
await runTests(paths);
if (paths.length === 0) await runAgainstSingleFile();

if (failures.length > 0) console.log(`\n${formatFailures(failures)}\n`);
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(counts.failed === 0 ? 0 : 1);

/** What ships in the Dockerfile and the systemd unit is the single-file build; it has to do all that the source does. */
async function runAgainstSingleFile(): Promise<void> {
  const program = join(tmpdir(), `openpit-test-${process.pid}`);
  const built = await runScript('npm run build', ['scripts/build.ts', program]);
  if (!built) return;
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
  const report = new TestReport();
  for await (const chunk of tests.stderr.pipeThrough(new TextDecoderStream())) {
    process.stderr.write(chunk);
    report.add(chunk);
  }
  counts.passed += report.passed;
  counts.failed += report.failed;
  failures.push(...report.failures);
  const exitCode = await tests.exited;
  if (exitCode !== 0 && report.failed === 0) count(`bun test: exit code ${exitCode}`, false); // Bun itself crashed
}

/** Runs one of the other scripts, which counts as one test. */
async function runScript(name: string, args: readonly string[]): Promise<boolean> {
  const script = Bun.spawn(['bun', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  const outputs = await Promise.all(
    [script.stdout, script.stderr].map((stream) => new Response(stream).text()),
  );
  const output = outputs.join('');
  process.stdout.write(output);
  const ok = (await script.exited) === 0;
  count(name, ok, output);
  return ok;
}

function count(name: string, ok: boolean, output = ''): void {
  if (ok) counts.passed++;
  else {
    counts.failed++;
    failures.push({ file: 'scripts', name, details: lastLines(Bun.stripANSI(output).split('\n')) });
  }
}
