/**
 * `npm run bench:against -- COMMIT [scenario…]`: this checkout against another commit, in one run. Both servers run on the
 * same core and take turns of one second, so that both see the same machine. The figure is the median of the ratios of
 * neighbouring turns, in requests per CPU-second. Both warm up before each scenario: otherwise
 * the figure compares how soon they are compiled.
 */
import { existsSync, mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GENERATOR, measure, type Request, WARM_UP_SECONDS } from './lib/load.ts';
import { ROOT, startOpenpit } from './lib/openpit.ts';
import { median, type Target } from './lib/process.ts';
import { checked, SCENARIOS, type Scenario } from './scenarios.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 8);
const SECONDS = Number(process.env.SECONDS ?? 1);
const [commit, ...only] = process.argv.slice(2);
if (!commit) {
  console.error('Usage: npm run bench:against -- COMMIT [scenario…]');
  process.exit(2);
}

interface Side {
  target: Target;
  key: string;
}

const folder = mkdtempSync(join(tmpdir(), 'openpit-against-'));
const other = join(folder, 'checkout');
try {
  checkOut();
  const before = await startSide(other, 'before');
  const now = await startSide(ROOT, 'now');
  console.log(`${ROUNDS} pairs of ${SECONDS} s for each scenario; load by ${GENERATOR}.\n`);
  console.log(`| Scenario | ${commit} | this checkout | ratio | lowest–highest |\n|---|---|---|---|---|`);
  for (const scenario of SCENARIOS) {
    if (only.length > 0 && !only.some((word) => scenario.name.includes(word))) continue;
    console.log(await compare(scenario, before, now));
  }
  for (const { target } of [before, now]) await target.stop();
} finally {
  git('worktree', 'remove', '--force', other);
  Bun.spawnSync(['rm', '-rf', folder]);
}

/** A second checkout, with the packages of this one where both list the same. */
function checkOut(): void {
  git('worktree', 'add', '--detach', other, commit!);
  const lock = (root: string) => Bun.spawnSync(['cat', join(root, 'package-lock.json')]).stdout.toString();
  if (lock(other) === lock(ROOT)) symlinkSync(join(ROOT, 'node_modules'), join(other, 'node_modules'));
  else Bun.spawnSync(['npm', 'ci'], { cwd: other, stdio: ['ignore', 'ignore', 'inherit'] });
  if (!existsSync(join(other, 'node_modules'))) throw new Error(`npm ci failed in ${other}`);
}

/** Each side has a ledger of its own: the older commit cannot open one that this checkout has migrated. */
async function startSide(root: string, name: string): Promise<Side> {
  const dataDir = join(folder, name);
  const first = await startOpenpit(dataDir, root); // loads the demo's prices
  await first.target.stop();
  return startOpenpit(dataDir, root);
}

async function compare(scenario: Scenario, before: Side, now: Side): Promise<string> {
  const sides = [before, now] as const;
  const requests: Request[] = [];
  for (const { target, key } of sides) requests.push((await checked(target.url, scenario, key)).request);
  for (const i of [0, 1] as const) {
    await measure(sides[i].target, requests[i]!, WARM_UP_SECONDS, scenario.status);
  }
  const figures: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    for (const i of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const measured = await measure(sides[i].target, requests[i]!, SECONDS, scenario.status);
      figures[i].push(measured.requestsPerCpuSecond);
    }
  }
  const ratios = figures[0].map((figure, i) => figures[1][i]! / figure);
  const range = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  const [old, current] = figures.map((samples) => Math.round(median(samples)));
  return `| ${scenario.name} | ${old} | ${current} | ${median(ratios).toFixed(2)} | ${range} |`;
}

function git(...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(['git', ...args], { cwd: ROOT });
  if (exitCode !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
}
