import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ENGINES, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

const TOKEN = 'a-token-for-the-operator';

describe.each(ENGINES)('a pushed feed on %s', (engine) => {
  const settings: Record<string, string> = {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_DEMO: 'false',
    OPENPIT_ADMIN_TOKEN: TOKEN,
  };
  let program: Program;
  let key: string;

  beforeAll(async () => {
    if (engine === 'postgres') settings.OPENPIT_DATABASE_URL = await newLedgerUrl(engine);
    program = await Program.start(settings);
    const made = await openpit(
      ['account', 'create', '--name', 'P', '--plan', 'unlimited', '--json'],
      settings,
    );
    key = JSON.parse(made.stdout).key;
  }, 180_000);
  afterAll(() => program.end('SIGKILL'));

  const push = (ticks: unknown[]) =>
    fetch(`${program.url}/admin/ticks?source=desk`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(ticks),
    });
  const tick = (price: number, ago: number) => ({ symbol: 'XAU', price, at: Date.now() - ago });
  const gold = async (): Promise<{ rates: { XAU: number } }> =>
    (await program.get('/rates/latest?symbols=XAU', key)).json() as Promise<{ rates: { XAU: number } }>;

  test('an acknowledged push survives kill -9, and is served', async () => {
    const sent = Array.from({ length: 3_000 }, (_, i) => tick(2_350 + (i % 10) / 10, 100_000 - i * 10));
    const answer = await (await push(sent)).json();
    expect(answer).toMatchObject({ accepted: 3_000, refused: 0 });
    await program.end('SIGKILL');
    program = await Program.start(settings);
    expect(await gold()).toMatchObject({ rates: { XAU: 2_350.9 } });
    expect(await (await push(sent)).json()).toMatchObject({ accepted: 0, duplicate: 3_000 });
    expect((await push([tick(2_351, 50)])).status).toBe(200);
    await eventually(async () => (await gold()).rates.XAU === 2_351);
  }, 180_000);

  test('of ticks that many clients push one by one, kill -9 loses none that was acknowledged', async () => {
    const acknowledged: unknown[] = [];
    const killed = Promise.withResolvers<void>();
    const client = async (number: number) => {
      for (let n = 0; ; n++) {
        const one = { ...tick(30 + (n % 5) / 10, 0), symbol: 'PL', id: `${number}-${n}` };
        const answer = await push([one])
          .then((response) => response.json() as Promise<{ accepted?: number }>)
          .catch(() => ({ accepted: undefined }));
        if (answer.accepted === undefined) return;
        acknowledged.push(one);
        if (acknowledged.length === 500) killed.resolve(program.end('SIGKILL').then(() => {}));
      }
    };
    await Promise.all(Array.from({ length: 20 }, (_, number) => client(number)));
    await killed.promise;
    program = await Program.start(settings);
    const again = await (await push(acknowledged)).json();
    expect(again).toMatchObject({ accepted: 0, duplicate: acknowledged.length, refused: 0 });
  }, 180_000);

  test('the operator lists and releases a tick on the command line', async () => {
    await push([tick(2_351, 1_000), tick(235_100, 0)]);
    const list = await openpit(['feed', 'quarantine', 'list', '--json'], settings);
    const [held] = JSON.parse(list.stdout);
    expect(held).toMatchObject({ symbol: 'XAU', price: 235_100, state: 'held', source: 'desk' });
    expect((await openpit(['feed', 'quarantine', 'list'], settings)).stdout).toContain(
      'far from its neighbour',
    );
    const drop = await openpit(['feed', 'quarantine', 'drop', String(held.id)], settings);
    expect(drop.stdout).toBe(`Price ${held.id} is dropped.\n`);
    const again = await openpit(['feed', 'quarantine', 'drop', String(held.id)], settings);
    expect([again.exitCode, again.stderr]).toEqual([1, expect.stringContaining('has already been dropped')]);
    await openpit(['feed', 'quarantine', 'release', String(held.id)], settings);
    await eventually(async () => (await gold()).rates.XAU === 235_100);
  }, 180_000);

  test('requests are answered while a batch is stored', async () => {
    let answered = 0;
    let isDone = false;
    const asking = (async () => {
      while (!isDone) {
        await gold();
        answered++;
      }
    })();
    for (let n = 0; n < 4; n++) {
      const at = Date.now() - 50_000;
      const batch = Array.from({ length: 5_000 }, (_, i) => ({
        symbol: 'XAG',
        price: 30,
        at: at + i + n * 5_000,
      }));
      const before = answered;
      expect(await (await push(batch)).json()).toMatchObject({ accepted: 5_000 });
      expect(answered).toBeGreaterThan(before); // the feed thread writes; `npm run bench:latency` measures the latency
    }
    isDone = true;
    await asking;
  }, 180_000);
});
