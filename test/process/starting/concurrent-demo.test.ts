import { afterAll, expect, test } from 'bun:test';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { Program } from '../../support/program.ts';

const REPLICAS = 3;

const started: Program[] = [];
afterAll(async () => {
  await Promise.all(started.map((program) => program.end('SIGKILL')));
});

test('replicas that start a demo together on an empty PostgreSQL all serve simulated prices with their demo keys', async () => {
  const url = await newDatabase();
  const start = async () => {
    const program = await Program.start({
      OPENPIT_DATA_DIR: newFolder(),
      OPENPIT_DATABASE_URL: url,
      OPENPIT_DEMO: 'true',
      OPENPIT_PUBLIC_PLAN: 'free',
    });
    started.push(program);
  };
  const outcomes = await Promise.allSettled(Array.from({ length: REPLICAS }, start));
  expect(outcomes.filter((one) => one.status === 'rejected').map((one) => String(one.reason))).toEqual([]);
  for (const program of started) {
    const response = await program.get('/rates/latest?symbols=XAU');
    expect(await response.json()).toMatchObject({
      success: true,
      metadata: { XAU: { source: 'simulated' } },
    });
  }
}, 180_000);

test('a PostgreSQL ledger that was started without a demo gets one when it is requested', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DATABASE_URL: await newDatabase() };
  const empty = await Program.start(settings);
  await empty.end();
  const program = await Program.start({ ...settings, OPENPIT_DEMO: 'true' });
  started.push(program);
  expect(await (await program.get('/rates/latest?symbols=XAU')).json()).toMatchObject({ success: true });
}, 180_000);
