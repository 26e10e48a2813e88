/**
 * `npm run explore [-- --runs N] [--seconds S] [--seed SEED] [paths…]`: runs every test file that states a property
 * with fresh seeds, N times and for at most S seconds per file. Prints the seed of a failure and the command that
 * repeats it. `npm test` always uses the same seed.
 */
import { relative } from 'node:path';
import { readFlags } from './flags.ts';

const { values, positionals } = readFlags({
  options: {
    runs: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
  },
  allowPositionals: true,
});
const seconds = Number(values.seconds);
const runs = values.seed === undefined ? Number(values.runs) : 1;

let failures = 0;
for (const file of await propertyFiles(positionals)) {
  const { done, seed, output } = await explore(file);
  if (output === undefined) {
    console.log(`ok      ${file}: ${done} runs`);
    continue;
  }
  failures++;
  console.log(output);
  console.log(
    `FAILED  ${file}${seed === undefined ? ', without a property' : ` with seed ${seed}`}. Repeat it with:`,
  );
  console.log(`        npm run explore -- --seed ${seed ?? values.seed ?? 'fresh'} ${file}`);
}
process.exit(failures === 0 ? 0 : 1);

interface Exploration {
  done: number;
  /** The seed that fast-check reports for the failure. */
  seed?: string | undefined;
  /** What the failing run printed. */
  output?: string;
}

/** Runs a file in batches: a new process for each, because one that is stopped in the middle reports nothing. */
async function explore(file: string): Promise<Exploration> {
  const end = performance.now() + seconds * 1_000;
  let batch = 1;
  let done = 0;
  while (done < runs && (done === 0 || performance.now() < end)) {
    const count = Math.min(batch, runs - done);
    const start = performance.now();
    const { exitCode, output } = await run(file, count);
    if (exitCode !== 0) return { done, seed: /seed: (-?\d+)/.exec(output)?.[1], output };
    done += count;
    const msPerRun = (performance.now() - start) / count;
    batch = Math.max(1, Math.min(batch * 4, Math.floor((end - performance.now()) / msPerRun)));
  }
  return { done };
}

async function run(file: string, count: number): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn(
    ['bun', 'test', '--timeout', '600000', '--bail', `--rerun-each=${count}`, `./${file}`],
    {
      env: { ...Bun.env, OPENPIT_TEST_SEED: values.seed ?? 'fresh' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const output = await child.stderr.text();
  return { exitCode: await child.exited, output };
}

/** The test files under the paths that use fast-check. */
async function propertyFiles(paths: readonly string[]): Promise<string[]> {
  const files = await Array.fromAsync(new Bun.Glob('{src,test}/**/*.test.ts').scan('.'));
  const wanted = paths.map((path) => relative('.', path));
  const chosen = files.filter(
    (file) => wanted.length === 0 || wanted.some((path) => file === path || file.startsWith(`${path}/`)),
  );
  const texts = await Promise.all(chosen.map((file) => Bun.file(file).text()));
  return chosen.filter((_, i) => /fast-check|fuzzed-feeds/.test(texts[i]!)).sort();
}
