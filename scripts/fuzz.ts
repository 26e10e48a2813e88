/**
 * `npm run fuzz -- --target csv --seconds 60`: fuzzes a parser, guided by branch coverage. Without a target it fuzzes all of
 * them, one after the other. Inputs that reach new branches are kept in artifacts/fuzz/. An input that breaks a parser is
 * written there, too; add it as a test.
 */
import { join } from 'node:path';
import { Coverage } from '../test/fuzz/coverage.ts';
import { instrument } from '../test/fuzz/instrument.ts';
import { fuzz } from '../test/fuzz/loop.ts';
import type { Target } from '../test/fuzz/target.ts';
import { readFlags } from './flags.ts';

const { values } = readFlags({
  options: {
    target: { type: 'string', multiple: true },
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
  },
});
const root = join(import.meta.dir, '..');
const folder = join(root, 'artifacts', 'fuzz');
const { targets, coverage } = await instrumentedTargets();
const chosen = values.target ? targets.filter(({ name }) => values.target!.includes(name)) : targets;
if (values.target && chosen.length !== values.target.length) {
  console.error(`the targets are ${targets.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

let broke = false;
for (const target of chosen) {
  const done = fuzz(
    target,
    coverage,
    Number(values.seconds),
    Number(values.seed),
    join(folder, 'corpus', target.name),
  );
  const { runs, branchesAtStart, branches, corpus } = done;
  console.log(`${target.name}: ${runs} inputs, ${branchesAtStart} → ${branches} branches, ${corpus} kept`);
  if (!done.broke) continue;
  broke = true;
  const { input, error } = done.broke;
  const path = join(folder, `broken-${target.name}.bin`);
  await Bun.write(path, input);
  console.error(
    `${target.name} breaks: ${error}\n${JSON.stringify(Buffer.from(input).toString('latin1').slice(0, 500))}\nin ${path}`,
  );
}
process.exit(broke ? 1 : 0);

/** The targets and everything they import, with a counter in every branch. */
async function instrumentedTargets(): Promise<{ targets: readonly Target[]; coverage: Coverage }> {
  const entry = join(root, 'test', 'fuzz', 'targets.ts');
  const { outputs } = await Bun.build({ entrypoints: [entry], target: 'bun', format: 'esm' });
  const { code, points } = instrument(await outputs[0]!.text());
  const counted = new Coverage(points);
  Object.assign(globalThis, { __hit: (point: number, value: unknown) => counted.hit(point, value) });
  const path = join(folder, 'targets.js');
  await Bun.write(path, code);
  return { targets: (await import(path)).TARGETS, coverage: counted };
}
