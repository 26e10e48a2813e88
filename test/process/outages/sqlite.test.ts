import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { DamagedTable } from '../../support/damaged-ledger.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';
import { WebhookReceiver } from '../../support/webhook-receiver.ts';

const NOTICED_MS_MAX = 60_000;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function started() {
  const receiver = new WebhookReceiver();
  endings.push(() => receiver.stop());
  const settings = {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
    OPENPIT_WEBHOOK_URL: receiver.url,
  };
  const program = await Program.start(settings);
  endings.push(() => program.end('SIGKILL'));
  const made = await openpit(['account', 'create', '--name', 'A', '--plan', 'pro', '--json'], settings);
  const { key } = JSON.parse(made.stdout) as { key: string };
  const file = join(settings.OPENPIT_DATA_DIR, 'openpit.db');
  const alarms = async () => {
    const response = await program.get('/health', '');
    const body = (await response.json()) as { alarms: string[] };
    return { status: response.status, alarms: body.alarms };
  };
  return { program, receiver, key, file, alarms };
}

function eventsOf(program: Program): { event: string; name?: string }[] {
  return program.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('a corrupt page makes the service not ready with one alarm, and its repair ends both', async () => {
  const { program, receiver, key, file, alarms } = await started();
  const table = new DamagedTable(file, 'bar');
  table.damage();
  const damaged = { status: 503, alarms: ['ledger.corrupt'] };
  await eventually(async () => {
    await program.get('/rates/latest?symbols=XAU', key);
    return Bun.deepEquals(await alarms(), damaged);
  }, NOTICED_MS_MAX);
  for (let i = 0; i < 50; i++) {
    expect((await program.get(`/rates/latest?symbols=XAU&_=${i}`, key)).status).toBe(503);
  }
  await eventually(async () => receiver.types().includes('ledger.corrupt'), NOTICED_MS_MAX);
  table.repair();
  await eventually(async () => Bun.deepEquals(await alarms(), { status: 200, alarms: [] }), NOTICED_MS_MAX);
  await eventually(async () => receiver.types().includes('alarm.over'), NOTICED_MS_MAX);
  expect(receiver.types()).toEqual(['ledger.corrupt', 'alarm.over']);
  const events = eventsOf(program).map(({ event }) => event);
  expect(events.filter((event) => event === 'alarm')).toHaveLength(1);
  expect(events.length).toBeLessThan(20);
  expect((await program.get('/rates/latest?symbols=XAU', key)).status).toBe(404); // no prices, as before
}, 200_000);

test('a feed thread that keeps failing raises one alarm, requests are answered, and it ends with the cause', async () => {
  const { program, receiver, key, file, alarms } = await started();
  const rename = (from: string, to: string) => {
    const database = new Database(file);
    database.run('PRAGMA busy_timeout = 5000');
    database.run(`ALTER TABLE ${from} RENAME TO ${to}`);
    database.close();
  };
  rename('quarantine_tick', 'quarantine_hidden');
  await eventually(
    async () => Bun.deepEquals(await alarms(), { status: 200, alarms: ['feeds.failing'] }),
    NOTICED_MS_MAX,
  );
  expect((await program.get('/symbols', key)).status).toBe(200);
  await eventually(async () => receiver.types().includes('feeds.failing'), NOTICED_MS_MAX);
  rename('quarantine_hidden', 'quarantine_tick');
  await eventually(async () => (await alarms()).alarms.length === 0, NOTICED_MS_MAX);
  await eventually(async () => receiver.types().includes('alarm.over'), NOTICED_MS_MAX);
  expect(receiver.types()).toEqual(['feeds.failing', 'alarm.over']);
  expect(eventsOf(program).length).toBeLessThan(20);
}, 200_000);
