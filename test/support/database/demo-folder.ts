import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Simulator } from '../../../src/feeds/simulator/simulator.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder, onFoldersRemoved } from '../ledger.ts';

/** The name that the program gives to its ledger in the data folder. */
const LEDGER = 'openpit.db';

/** Writes the ledger of a demo as its first start leaves it. Takes 4 s of CPU time. */
export async function createDemo(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const ledger = await Ledger.open(join(folder, LEDGER), systemClock);
  await ledger.setMeta('demo', 'on');
  await new Simulator(ledger).fillHistory(systemClock.now());
  await ledger.close();
}

let own: Promise<string> | undefined;
onFoldersRemoved(() => {
  own = undefined;
});

/**
 * A new data folder with a demo that was started before. `npm test` creates one demo and names its folder in
 * OPENPIT_TEST_DEMO; all others are copies of it.
 */
export async function demoFolder(): Promise<string> {
  const template = process.env.OPENPIT_TEST_DEMO ?? (await ownDemo());
  const folder = newFolder();
  cpSync(join(template, LEDGER), join(folder, LEDGER));
  return folder;
}

function ownDemo(): Promise<string> {
  own ??= (async () => {
    const folder = newFolder();
    await createDemo(folder);
    return folder;
  })();
  return own;
}
