import { afterEach, expect, test } from 'bun:test';
import { ENGINES, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { load } from '../../support/load.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

async function settingsOn(engine: (typeof ENGINES)[number]): Promise<Record<string, string>> {
  const settings: Record<string, string> = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  if (engine === 'postgres') settings.OPENPIT_DATABASE_URL = await newLedgerUrl(engine);
  return settings;
}

async function createAccount(
  settings: Record<string, string>,
  quota: number,
): Promise<{ account: string; key: string }> {
  const plan = [
    'plan',
    'set',
    'test',
    '--quota',
    String(quota),
    '--burst',
    '1000000',
    '--delay-seconds',
    '0',
  ];
  expect(await openpit(plan, settings)).toMatchObject({ exitCode: 0 });
  const { stdout } = await openpit(
    ['account', 'create', '--name', 'A', '--plan', 'test', '--json'],
    settings,
  );
  return JSON.parse(stdout);
}

async function usedOf(server: Program, key: string): Promise<number> {
  const usage = (await (await server.get('/usage', key)).json()) as { used: number };
  return usage.used;
}

test.each(ENGINES)(
  'on %s, a quota of 1,000 asked 2,000 times over 64 connections answers exactly 1,000, at every try',
  async (engine) => {
    const settings = await settingsOn(engine);
    await createAccount(settings, 1_000);
    program = await Program.start(settings);
    for (let attempt = 0; attempt < 3; attempt++) {
      const { stdout } = await openpit(
        ['account', 'create', '--name', 'A', '--plan', 'test', '--json'],
        settings,
      );
      const { key } = JSON.parse(stdout);
      const { statuses, broken } = await load({
        url: `${program.url}/symbols`,
        key,
        connections: 64,
        requests: 2_000,
      });
      expect({ answered: statuses.get(200), refused: statuses.get(429), broken }).toEqual({
        answered: 1_000,
        refused: 1_000,
        broken: 0,
      });
      expect(await usedOf(program, key)).toBe(1_000);
    }
  },
  60_000,
);

test('after SIGKILL under load, ten times: the counts differ from the responses by at most the requests in flight', async () => {
  const settings = await settingsOn('sqlite');
  const { key } = await createAccount(settings, 1_000_000);
  const connections = 16;
  let answered = 0;
  for (let kill = 1; kill <= 10; kill++) {
    program = await Program.start(settings);
    const usedBefore = await usedOf(program, key);
    expect(usedBefore).toBeGreaterThanOrEqual(answered);
    expect(usedBefore).toBeLessThanOrEqual(answered + (kill - 1) * connections);
    const stop = new AbortController();
    const enough = Promise.withResolvers<void>();
    const killAfter = 20 + ((kill * 37) % 320); // a different moment each time
    const loading = load({
      url: `${program.url}/symbols`,
      key,
      connections,
      until: stop.signal,
      onAnswer: (answers) => void (answers === killAfter && enough.resolve()),
    });
    await enough.promise;
    await program.end('SIGKILL');
    stop.abort();
    const { statuses } = await loading;
    expect([...statuses.keys()]).toEqual([200]);
    answered += statuses.get(200)!;
  }
  program = await Program.start(settings);
  const used = await usedOf(program, key);
  expect(used).toBeGreaterThanOrEqual(answered);
  expect(used).toBeLessThanOrEqual(answered + 10 * connections);
  expect(answered).toBeGreaterThan(1_000);
  expect((await openpit(['check'], settings)).stdout).toContain('All counts add up');
}, 180_000);

test('SIGTERM loses no count, and returns the leases', async () => {
  const settings = await settingsOn('sqlite');
  const { account, key } = await createAccount(settings, 10_000);
  program = await Program.start(settings);
  await load({ url: `${program.url}/symbols`, key, connections: 8, requests: 777 });
  expect(await program.end()).toBe(0);
  const { stdout } = await openpit(['account', 'show', account, '--json'], settings);
  expect(JSON.parse(stdout)).toMatchObject({ used: 777, daily: [{ endpoint: 'symbols', count: 777 }] });
}, 180_000);

test('each quota threshold is reported once: in the log, in the account, and by a signed post', async () => {
  const posts: { id: string | null; timestamp: string | null; signature: string | null; body: string }[] = [];
  let refusals = 1;
  const receiver = Bun.serve({
    port: 0,
    async fetch(request) {
      if (refusals-- > 0) return new Response('not now', { status: 500 });
      const { headers } = request;
      posts.push({
        id: headers.get('webhook-id'),
        timestamp: headers.get('webhook-timestamp'),
        signature: headers.get('webhook-signature'),
        body: await request.text(),
      });
      return new Response();
    },
  });
  const settings = {
    ...(await settingsOn('sqlite')),
    OPENPIT_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/hook`,
    OPENPIT_WEBHOOK_SECRET: 'a secret for this test',
  };
  const { account, key } = await createAccount(settings, 100);
  program = await Program.start(settings);
  await load({ url: `${program.url}/symbols`, key, connections: 4, requests: 120 });
  await usedOf(program, key); // makes the process report its counts
  // The three posts run in parallel: two may arrive before the failure of the other is logged, or after it was retried.
  const log = () => program!.stderr;
  await eventually(async () => posts.length >= 2 && log().includes('webhook failed, will be retried'));

  for (const { id, timestamp, signature, body } of posts) {
    const { percent } = JSON.parse(body);
    expect([90, 75, 100]).toContain(percent);
    expect(id).toStartWith(`${account}.`);
    const hmac = new Bun.CryptoHasher('sha256', 'a secret for this test').update(
      `${id}.${timestamp}.${body}`,
    );
    expect(signature).toBe(`v1,${hmac.digest('base64')}`);
  }
  expect(log().match(/quota threshold/g)).toHaveLength(3);
  const { stdout } = await openpit(['account', 'show', account, '--json'], settings);
  const { events } = JSON.parse(stdout);
  expect(events.map((event: { percent: number }) => event.percent).sort()).toEqual([100, 75, 90]);
  await receiver.stop(true);
}, 180_000);
