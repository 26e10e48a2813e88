import { beforeAll, describe, expect, test } from 'bun:test';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { csv, GOOD, history } from '../../support/feeds/feed-bench.ts';
import { StubServer } from '../../support/feeds/stub-server.ts';
import { ENGINES, newFolder, newLedgerUrl } from '../../support/ledger.ts';
import { eventually, openpit, spawnOpenpit } from '../../support/program.ts';

const SCRIPT = 'test/support/feeds/feed-program.ts';

describe.each(ENGINES)('openpit feed on %s', (engine) => {
  const server = new StubServer();
  const settings: Record<string, string> = { OPENPIT_DATA_DIR: newFolder() };
  const feed = (...args: string[]) => openpit(['feed', ...args], settings, SCRIPT);
  const run = (...args: string[]) => feed('run', 'stub', '--base-url', server.url, ...args);
  const respond = (body: string | null, init?: ResponseInit) => {
    server.respond = () => new Response(body, init);
  };

  beforeAll(async () => {
    if (engine === 'postgres') settings.OPENPIT_DATABASE_URL = await newLedgerUrl(engine);
    await openpit(['migrate'], settings);
  });

  test('a feed is disabled until it is enabled, and can be disabled again', async () => {
    const state = async () => JSON.parse((await feed('list', '--json')).stdout)[0];
    expect(await state()).toMatchObject({ key: 'stub', enabled: false, late: false, lastRun: null });
    expect((await feed('enable', 'stub')).stdout).toContain('Feed stub is on. A stub.');
    expect(await state()).toMatchObject({ enabled: true, nextRunAt: expect.stringMatching(/^20.*Z$/) });
    expect((await feed('list')).stdout).toMatch(/stub +on /);
    expect((await feed('disable', 'stub', '--json')).stdout).toBe('{"key":"stub","enabled":false}\n');
    expect(await state()).toMatchObject({ enabled: false });
  });

  test('a run reports what it imported, and a second run that nothing is new', async () => {
    respond(csv(...history(), '2026-07-14,.', 'whenever,2'));
    const first = await run();
    expect(first).toMatchObject({ exitCode: 0, stderr: '' });
    expect(first.stdout).toContain(
      '20 taken, 0 corrected, 0 unchanged, 0 withdrawn, 1 without a value, 1 refused, 0 held back',
    );
    expect(first.stdout).toContain('line 23 refused: "whenever,2" is no price of a day');
    respond(GOOD, { headers: { etag: '"good"' } });
    expect(JSON.parse((await run('--json')).stdout)).toMatchObject({
      status: 'ok',
      unchanged: 20,
      number: 2,
    });
    respond(null, { status: 304 });
    expect((await run()).stdout).toBe('stub: nothing new since the last run\n');
  });

  test('a failed run exits with 1 and the reason, which the history shows too', async () => {
    respond('<html>Who are you?</html>');
    const failed = await run();
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toBe('openpit: feed stub failed: the body is HTML where CSV was expected\n');
    respond(csv(...history(), '2026-07-14,402000'));
    const odd = await run('--json');
    expect(odd.exitCode).toBe(1);
    expect(JSON.parse(odd.stdout)).toMatchObject({ status: 'quarantined', taken: 0 });
    const { stdout } = await feed('history', 'stub', '--limit', '2');
    expect(stdout).toContain(
      'quarantined  XAU: 2026-07-13 is 4019 and 2026-07-14 is 402000, a jump by about 100',
    );
    expect(stdout).toContain('failed  the body is HTML where CSV was expected');
    const all = JSON.parse((await feed('history', '--json')).stdout);
    expect(all.map((one: { status: string }) => one.status)).toEqual([
      'quarantined',
      'failed',
      'unchanged',
      'ok',
      'ok',
    ]);
    respond(csv(...history(), '2026-07-14,4020'));
    expect((await run()).stdout).toContain('1 taken, 0 corrected, 20 unchanged');
  });

  test('a killed runner leaves its lease; the next one waits for its expiry, then completes the run', async () => {
    const asked = Promise.withResolvers<void>();
    server.respond = () => {
      asked.resolve();
      return new Promise<Response>(() => {}); // never
    };
    const child = spawnOpenpit(['feed', 'run', 'stub', '--base-url', server.url], settings, SCRIPT);
    await asked.promise;
    child.kill('SIGKILL');
    await child.exited;
    const early = await run();
    expect(early.exitCode).toBe(1);
    expect(early.stderr).toContain('another process is running the feed stub');
    const url = settings.OPENPIT_DATABASE_URL ?? `${settings.OPENPIT_DATA_DIR}/openpit.db`;
    const ledger = await Ledger.open(url, systemClock);
    await ledger.engine.write((tx) => tx`UPDATE feed SET lease_until = 1`); // three minutes pass
    await ledger.close();
    respond(GOOD);
    expect((await run()).exitCode).toBe(0);
    expect((await feed('history')).stdout).toContain('failed  the runner ended in the middle');
  }, 180_000);

  test('a runner that is stopped says so and releases its lease', async () => {
    const asked = Promise.withResolvers<void>();
    server.respond = () => {
      asked.resolve();
      return new Promise<Response>(() => {});
    };
    const child = spawnOpenpit(['feed', 'run', 'stub', '--base-url', server.url], settings, SCRIPT);
    await asked.promise;
    child.kill('SIGINT');
    expect(await child.exited).toBe(1);
    expect(await new Response(child.stderr).text()).toContain('the run was stopped');
    respond(GOOD);
    await eventually(async () => (await run()).exitCode === 0);
  }, 180_000);
});

test.each([
  [['run', 'stab'], 'there is no feed stab. Did you mean stub?'],
  [['run', 'stub', '--base-url', 'ftp://x'], '--base-url must be a URL'],
  [['run'], 'takes KEY'],
  [['history', 'a', 'b'], 'takes [KEY]'],
  [['history', '--limit', 'x'], '--limit must be a whole number'],
])('an incorrect call %p is reported in one line, with exit code 2', async (args, message) => {
  const { exitCode, stderr } = await openpit(['feed', ...args], { OPENPIT_DATA_DIR: newFolder() }, SCRIPT);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(message);
});
