/** `npm run check`: format, lint, types, the structure of src/, and a fixture for each schema version. */
import { SCHEMA_VERSION } from '../src/ledger/schema/migrations.ts';
import { missingFixtureMessage } from '../test/schemas/fixture.ts';
import { crowdedFolders, duplicateTypes, importCycles, readSources, wrongDirections } from './structure.ts';

const steps: readonly [name: string, command: readonly string[]][] = [
  ['format and lint', ['biome', 'check', '--error-on-warnings', '.']],
  ['types', ['tsc', '--noEmit']],
  ['types of the page', ['tsc', '--noEmit', '-p', 'src/console']],
  ['types of the client', ['tsc', '--noEmit', '-p', 'client']],
];

let failed = false;
for (const [name, command] of steps) {
  const { exitCode } = Bun.spawnSync(['bunx', '--no-install', ...command], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  report(name, exitCode === 0);
}
const sources = await readSources();
for (const [name, complaints] of [
  ['import directions', wrongDirections(sources)],
  ['import cycles', importCycles(sources)],
  ['folders', crowdedFolders(sources)],
  ['type names', duplicateTypes(sources)],
] as const) {
  for (const line of complaints) console.error(line);
  report(name, complaints.length === 0);
}
const missing = missingFixtureMessage(SCHEMA_VERSION);
if (missing) console.error(missing);
report('schema fixtures', missing === undefined);
process.exit(failed ? 1 : 0);

function report(name: string, ok: boolean): void {
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${name}`);
  if (!ok) failed = true;
}
