/** `bun scripts/simulate.ts [seeds] [first] [mix]`: runs the quota simulator by hand, every mix for every seed. */
import { MIXES } from '../test/simulator/mixes.ts';
import { simulate } from '../test/simulator/simulate.ts';

const [seeds = '100', first = '1', only] = process.argv.slice(2);
let failed = 0;
for (const mix of MIXES.filter(({ name }) => !only || name === only)) {
  const start = performance.now();
  const sum = { admitted: 0, refused: 0, unavailable: 0, kills: 0, failed: 0 };
  for (let seed = Number(first); seed < Number(first) + Number(seeds); seed++) {
    const { violations, ...outcome } = await simulate(seed, mix).catch((error) => ({
      ...{ admitted: 0, refused: 0, unavailable: 0, kills: 0 },
      violations: [String(error)],
    }));
    for (const key of ['admitted', 'refused', 'unavailable', 'kills'] as const) sum[key] += outcome[key];
    if (violations.length > 0) sum.failed++;
    for (const line of violations.slice(0, 3)) console.log(`${mix.name}, seed ${seed}: ${line}`);
  }
  failed += sum.failed;
  const perRunMs = (performance.now() - start) / Number(seeds);
  console.log(`${mix.name.padEnd(28)} ${JSON.stringify(sum)} ${perRunMs.toFixed(0)} ms a run`);
}
process.exit(failed === 0 ? 0 : 1);
