/**
 * `bun scripts/schema-fixture.ts`: writes the fixture of the current schema version, for both engines. Run it in the
 * commit that adds a migration. A fixture stays as the program of its time wrote it, so an existing one is kept.
 */
import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import { Ledger } from '../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../src/ledger/schema/migrations.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { dump, fixturePath, recordStatements } from '../test/schemas/fixture.ts';
import { fillSampleLedger } from '../test/schemas/sample-ledger.ts';
import { ENGINES, type EngineName, newLedgerUrl, removeFolders } from '../test/support/ledger.ts';
import { stopPostgres } from '../test/support/postgres.ts';

try {
  for (const engine of ENGINES) await writeFixture(engine);
} finally {
  await stopPostgres();
  removeFolders();
}

async function writeFixture(engine: EngineName): Promise<void> {
  const path = fixturePath(SCHEMA_VERSION, engine);
  const name = relative(process.cwd(), path);
  if (existsSync(path)) {
    console.log(`${name} exists; delete it first if its migration has not been released`);
    return;
  }
  const url = await newLedgerUrl(engine);
  await recordStatements(url, engine);
  const ledger = await Ledger.open(url, systemClock);
  await fillSampleLedger(ledger);
  await removeUnusedSymbols(ledger);
  await ledger.close();
  await Bun.write(path, await dump(url, engine));
  console.log(`wrote ${name}`);
}

/** Keeps a fixture at a few kilobytes: most of the catalogue has no prices in the sample. */
async function removeUnusedSymbols(ledger: Ledger): Promise<void> {
  await ledger.engine.write(async (tx) => {
    await tx`DELETE FROM alias WHERE symbol_id NOT IN (SELECT symbol_id FROM bar_change)`;
    await tx`DELETE FROM symbol WHERE id NOT IN (SELECT symbol_id FROM bar_change)`;
  });
}
