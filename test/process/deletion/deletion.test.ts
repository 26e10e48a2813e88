import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { newFolder, newLedgerUrl, onEachEngine } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

/** A second is promised; the rest is slack for a busy machine. */
const WITHIN_MS = 5_000;

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

onEachEngine('a running service', (engine) => {
  test('refuses a deleted account and drops a deleted symbol, without a restart', async () => {
    const folder = newFolder();
    const url = await newLedgerUrl(engine);
    const settings = {
      OPENPIT_DATA_DIR: folder,
      OPENPIT_DEMO: 'false',
      OPENPIT_DATABASE_URL: engine === 'sqlite' ? `sqlite://${url}` : url,
    };
    const file = join(folder, 'gold.csv');
    await Bun.write(file, 'date,close\n2024-05-13,2336.1\n2024-05-14,2358.2\n');
    for (const symbol of ['XAU', 'XAG']) {
      expect(await openpit(['import', file, '--symbol', symbol], settings)).toMatchObject({ exitCode: 0 });
    }
    const create = async () => {
      const { stdout } = await openpit(
        ['account', 'create', '--name', 'A', '--plan', 'pro', '--json'],
        settings,
      );
      return JSON.parse(stdout) as { account: string; key: string };
    };
    const [going, staying] = [await create(), await create()];
    program = await Program.start(settings);
    const statusOf = async (path: string, key: string) => (await program!.get(path, key)).status;
    const gold = '/rates/historical?symbols=XAU&date=2024-05-14';
    expect([await statusOf(gold, going.key), await statusOf(gold, staying.key)]).toEqual([200, 200]);

    const unconfirmed = await openpit(['account', 'delete', going.account], settings);
    expect(unconfirmed).toMatchObject({ exitCode: 2 });
    expect(unconfirmed.stderr).toContain('add --yes');
    expect(await statusOf(gold, going.key)).toBe(200);
    expect(await openpit(['account', 'delete', going.account, '--yes'], settings)).toMatchObject({
      exitCode: 0,
    });
    await eventually(async () => (await statusOf(gold, going.key)) === 401, WITHIN_MS);
    expect(await openpit(['account', 'delete', 'acc_none', '--yes'], settings)).toMatchObject({
      exitCode: 1,
    });

    const unsure = await openpit(['symbols', 'delete', 'XAU'], settings);
    expect(unsure).toMatchObject({ exitCode: 2 });
    expect(unsure.stderr).toContain('with 2 bars and 0 ticks, which is used by the formulas GOLDSILVER');
    expect(await openpit(['symbols', 'delete', 'XAU', '--yes'], settings)).toMatchObject({ exitCode: 0 });
    await eventually(async () => (await statusOf(gold, staying.key)) === 404, WITHIN_MS);
    const silver = await program.get('/rates/historical?symbols=XAG&date=2024-05-14', staying.key);
    expect(await silver.json()).toMatchObject({ rates: { XAG: { close: 2358.2 } } });
    await program.end();
    expect(await openpit(['check'], settings)).toMatchObject({ exitCode: 0 });
  }, 180_000);
});
