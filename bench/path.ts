/**
 * `npm run bench:path`: how much code a request, a tick and an imported row run through. Each is repeated under coverage, N
 * and 2N times; the lines whose count grew by at least N are those that every repetition executes. Other commits can be
 * measured by running it there.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TIMES = 200;
const SCENARIO = join(import.meta.dir, 'lib', 'path-scenario.ts');
const isListed = process.argv.includes('--list');

console.log('| Path | files | lines |\n|---|---|---|');
for (const scenario of ['cached', 'uncached', 'tick', 'import']) {
  const [once, twice] = [await countLines(scenario, TIMES), await countLines(scenario, 2 * TIMES)];
  const executed = [...twice].filter(([line, count]) => count - (once.get(line) ?? 0) >= TIMES);
  const files = Map.groupBy(executed, ([line]) => line.split(':')[0]!);
  console.log(`| ${scenario} | ${files.size} | ${executed.length} |`);
  if (isListed) for (const [file, lines] of [...files].sort()) console.log(`    ${lines.length} ${file}`);
}

/** How often each line of src/ ran, by `file:line`. */
async function countLines(scenario: string, times: number): Promise<Map<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'openpit-coverage-'));
  const flags = ['--coverage', '--coverage-reporter=lcov', `--coverage-dir=${folder}`];
  const env = { ...process.env, PATH_SCENARIO: scenario, PATH_TIMES: String(times) };
  const { exitCode, stderr } = Bun.spawnSync(['bun', 'test', ...flags, SCENARIO], { env, stdout: 'ignore' });
  if (exitCode !== 0) throw new Error(`${scenario} failed:\n${stderr}`);
  const counts = new Map<string, number>();
  let file = '';
  for (const line of (await Bun.file(join(folder, 'lcov.info')).text()).split('\n')) {
    if (line.startsWith('SF:')) file = line.slice('SF:'.length);
    const hit = /^DA:(\d+),(\d+)$/.exec(line);
    if (hit && file.startsWith('src/')) counts.set(`${file}:${hit[1]}`, Number(hit[2]));
  }
  rmSync(folder, { recursive: true });
  return counts;
}
