/**
 * `npm run faults`: runs every row of the reliability table at full scale and writes docs/reliability.md.
 * `-- --only NAME` runs one row and keeps what is known of the others; `--scale ci` runs as the tests do
 * and writes nothing.
 */

import { keepResult } from '../test/process/faults/doc.ts';
import { type Result, runRow } from '../test/process/faults/row.ts';
import { ROWS } from '../test/process/faults/rows.ts';
import type { ScaleName } from '../test/process/faults/scales.ts';
import { removeFolders } from '../test/support/ledger.ts';
import { stopPostgres } from '../test/support/postgres.ts';
import { readFlags } from './flags.ts';

const { values } = readFlags({
  options: { only: { type: 'string', multiple: true }, scale: { type: 'string', default: 'full' } },
});
const scale: ScaleName = values.scale === 'ci' ? 'ci' : 'full';
const unknown = values.only?.filter((name) => !ROWS.some((row) => row.name === name)) ?? [];
if (unknown.length > 0) {
  console.error(`no row ${unknown.join(', ')}; there are ${ROWS.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}

const results: Result[] = [];
for (const row of ROWS.filter(({ name }) => !values.only || values.only.includes(name))) {
  const lacks = row.lacks();
  if (lacks) {
    console.log(`skipped ${row.name}: this machine has no ${lacks}`);
    continue;
  }
  process.stdout.write(`${row.name} … `);
  const result = await runRow(row, scale);
  results.push(result);
  console.log(`${result.broke.length === 0 ? 'held' : 'DID NOT HOLD'} in ${result.seconds} s`);
  console.log(`    ${result.tried}\n    ${result.figures}`);
  for (const line of result.broke.slice(0, 10)) console.log(`    ✗ ${line}`);
  if (scale === 'full') await keepResult(result); // after each, so that a run that is cut short has not been for nothing
}
await stopPostgres();
removeFolders();
process.exit(results.every(({ broke }) => broke.length === 0) ? 0 : 1);
