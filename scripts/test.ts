/** `npm test`: the check, the audit, then every test, then one line that says how many passed and failed. */
import { audit } from './audit.ts';

/** A test that needs a process or a database waits longer on a busy machine than Bun's 5 s. */
const TIMEOUT_MS = '60000';

const check = Bun.spawnSync(['bun', 'scripts/check.ts'], { stdio: ['ignore', 'inherit', 'inherit'] });

const audited = await audit();
if (audited.outcome === 'not asked') console.log(`not asked: the audit (${audited.why})`);
else console.log(audited.outcome === 'clean' ? 'ok     audit' : `FAILED audit: ${audited.names.join(', ')}`);

const tests = Bun.spawn(['bun', 'test', '--timeout', TIMEOUT_MS, ...process.argv.slice(2)], {
  stdio: ['ignore', 'inherit', 'pipe'],
});
let report = '';
for await (const chunk of tests.stderr.pipeThrough(new TextDecoderStream())) {
  process.stderr.write(chunk);
  report += chunk;
}
const testsFailed = (await tests.exited) !== 0;

let passed = countOf('pass');
let failed = countOf('fail');
if (check.exitCode === 0) passed++;
else failed++;
if (audited.outcome === 'clean') passed++;
if (audited.outcome === 'found') failed++;
if (testsFailed && failed === 0) failed++; // for example a file that could not be loaded
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Bun's summary has a line such as " 123 pass". */
function countOf(word: string): number {
  const plain = Bun.stripANSI(report);
  return Number([...plain.matchAll(new RegExp(`^\\s*(\\d+) ${word}$`, 'gm'))].at(-1)?.[1] ?? 0);
}
