import { beforeAll, describe, expect, test } from 'bun:test';
import { hostname, userInfo } from 'node:os';
import { join } from 'node:path';
import { PLAN_CHANGE } from '../../../src/api/admin/bodies.ts';
import { KEY_CHANGE } from '../../../src/api/keys/key-bodies.ts';
import { RANGES_MAX } from '../../../src/gate/addresses.ts';
import { createAccount } from '../../../src/gate/onboarding.ts';
import { PLAN_LIMITS } from '../../../src/ledger/accounts/plans.ts';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { newFolder } from '../../support/ledger.ts';
import { openpit } from '../../support/program.ts';

const withdrawal = (reason: string) => [
  'bars',
  'withdraw',
  '--symbol',
  'XAU',
  '--day',
  '2024-05-14',
  '--reason',
  reason,
];

describe('management on the command line', () => {
  const settings = { OPENPIT_DATA_DIR: newFolder(), OPENPIT_DEMO: 'false' };
  let account: string;
  let keyId: string;
  const json = async (...args: string[]) => JSON.parse((await openpit([...args, '--json'], settings)).stdout);
  const everything = async () => [
    await json('plan', 'list'),
    await json('account', 'list'),
    await json('key', 'list', '--account', account),
  ];

  beforeAll(async () => {
    await openpit(['plan', 'set', 'gold', '--quota', '10'], settings);
    ({ account, keyId } = await json('account', 'create', '--name', 'Acme', '--plan', 'gold'));
  });

  test('a command warns about a misspelled variable that would have named another ledger', async () => {
    const misspelled = { ...settings, OPENPIT_DATABSE_URL: 'postgres://127.0.0.1/rates', OPENPIT_OTHER: '1' };
    const { exitCode, stderr } = await openpit(['plan', 'list', '--json'], misspelled);
    expect(exitCode).toBe(0);
    expect(stderr.trim().split('\n')).toEqual([
      'openpit: OPENPIT_DATABSE_URL is not a setting and has no effect; did you mean OPENPIT_DATABASE_URL?',
    ]);
  });

  test('what is not in the ledger exits with 1, and is not to be confirmed; a mistaken number exits with 2', async () => {
    const exits = async (...args: string[]) => {
      const { exitCode, stderr } = await openpit(args, settings);
      return [exitCode, stderr.trim()];
    };
    const noAccount = 'openpit: there is no account acc_none; openpit account list lists them';
    expect(await exits('account', 'delete', 'acc_none')).toEqual([1, noAccount]);
    expect(await exits('account', 'delete', 'acc_none', '--yes')).toEqual([1, noAccount]);
    const many = '1234567890';
    const digits = `must be a number of at most 9 digits (received "${many}")`;
    expect(await exits('import', 'undo', many)).toEqual([2, `openpit: RUN ${digits}`]);
    expect(await exits('quarantine', 'drop', many)).toEqual([2, `openpit: ID ${digits}`]);
  });

  test.each([
    [['plan', 'delete', 'gold'], '1 account uses the plan'],
    [['plan', 'delete', 'nope'], 'there is no plan "nope"'],
    [['plan', 'set', 'gold', '--quota', '-1'], '--quota must be'],
    [['plan', 'set', 'gold', '--history', 'maybe'], '--history'],
    [['account', 'create', '--name', 'B', '--plan', 'nope'], 'there is no plan "nope"'],
    [['account', 'create', '--name', 'a\u001b[31m', '--plan', 'gold'], '--name must be whole Unicode'],
    [
      ['account', 'create', '--name', 'x'.repeat(201), '--plan', 'gold'],
      '--name may have at most 200 characters',
    ],
    [['account', 'create', '--name', ' ', '--plan', 'gold'], '--name must not be empty'],
    [['symbols', 'define', 'NEW', '--as', '{XAU}', '--name', 'a\nb'], '--name must be whole Unicode'],
    [withdrawal('  '), '--reason must not be empty'],
    [withdrawal('a\u001b[31m'), '--reason must be whole Unicode'],
    [withdrawal('x'.repeat(501)), '--reason may have at most 500 characters'],
    [['account', 'suspend', 'acc_nope'], 'there is no account'],
    [['--nope'], 'there is no option --nope'],
    [['--data-dir', 'x', 'plan', 'list'], 'there is no option --data-dir before a command'],
    [['account', 'set-plan', 'acc_nope', 'gold'], 'its options are --plan PLAN'],
    [['account', 'create', 'Acme', 'gold'], 'its options are --name NAME, --plan PLAN'],
    [['key', 'create', 'acc_nope'], 'its options are --account ID'],
    [['key', 'create', '--account', 'acc_nope'], 'there is no account'],
    [['key', 'rotate', 'pit_live_broken'], 'there is no such key'],
    [['key', 'revoke', 'key_nope'], 'there is no such key'],
    [['import', '.', '--symbol', 'XAU'], '. is a folder; name a file'],
    [['restore', '.', '--force'], '. is a folder; name a file'],
    [['symbols', 'import', '.'], '. is a folder; name a file'],
    [['import', 'nope.csv', '--symbol', 'XAU'], 'there is no file nope.csv'],
    [['audit', '--before', 'x'], '--before must be the id of an entry'],
    [['plan', 'set', 'gold', '--max-span-days', 'x'], '--max-span-days must be version or a whole number'],
  ])('%p is refused clearly and changes nothing', async (args, reason) => {
    const before = await everything();
    const { exitCode, stderr } = await openpit(args, settings);
    expect(exitCode).toBeGreaterThan(0);
    expect(stderr).toContain(reason);
    expect(await everything()).toEqual(before);
  });

  test.each([
    ['--expires', '2027-02-30'],
    ['--expires', '2027-02-30T12:00:00Z'],
    ['--expires', '5'],
    ['--expires', '2200-01-01'],
    ['--allow-ip', ''],
    ['--allow-ip', ','],
    ['--allow-ip', '10.0.0.0/33'],
  ])(
    'a new key with %s %p is refused: its restriction would be another one or missing',
    async (flag, value) => {
      const before = await everything();
      const { exitCode, stderr } = await openpit(
        ['key', 'create', '--account', account, flag, value],
        settings,
      );
      expect(exitCode).toBe(2);
      expect(stderr).toContain(`${flag} must be`);
      expect(await everything()).toEqual(before);
    },
  );

  test('a new key may have as many addresses as over HTTP', async () => {
    const create = (addresses: string[]) =>
      openpit(['key', 'create', '--account', account, '--allow-ip', addresses.join()], settings);
    const addresses = Array.from({ length: RANGES_MAX }, (_, i) => `10.0.0.${i}`);
    expect((await create(addresses)).exitCode).toBe(0);
    const { exitCode, stderr } = await create([...addresses, '10.1.0.0/16']);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'openpit: --allow-ip may have at most 50 addresses and ranges (received 51)\n',
    });
  });

  test('a key is created with a name and listed with it, as its owner sees it', async () => {
    const create = (name: string) => ['key', 'create', '--account', account, '--name', name];
    const { keyId } = await json(...create('Excel'));
    const keys: { id: string; name: string }[] = await json('key', 'list', '--account', account);
    expect(keys.find(({ id }) => id === keyId)?.name).toBe('Excel');
    const { stdout } = await openpit(['key', 'list', '--account', account], settings);
    expect(stdout).toMatch(new RegExp(`id +name +status.*\n(.*\n)*  ${keyId} +Excel +active`));
    expect((await openpit(create('a\u001b[31m'), settings)).stderr).toContain('--name must be whole Unicode');
    expect((await openpit(create('x'.repeat(65)), settings)).stderr).toContain(
      '--name may have at most 64 characters',
    );
  });

  test('what the command line accepts as an expiry can be sent over HTTP, too', async () => {
    const { keyId } = await json('key', 'create', '--account', account, '--expires', '2199-12-31');
    const keys: { id: string; expiresAt: number }[] = await json('key', 'list', '--account', account);
    const { expiresAt } = keys.find(({ id }) => id === keyId)!;
    expect(KEY_CHANGE.safeParse({ expiresAt: Math.floor(expiresAt / 1000) }).success).toBe(true);
  });

  test('a time without an offset is in UTC, wherever the machine is', async () => {
    const args = ['key', 'create', '--account', account, '--json', '--expires'];
    const inTokyo = { ...settings, TZ: 'Asia/Tokyo' };
    const expiryOf = async (time: string) => {
      const { keyId } = JSON.parse((await openpit([...args, time], inTokyo)).stdout);
      const { stdout } = await openpit(['key', 'list', '--account', account, '--json'], settings);
      return JSON.parse(stdout).find(({ id }: { id: string }) => id === keyId).expiresAt;
    };
    expect(await expiryOf('2199-12-31T10:00')).toBe(Date.UTC(2199, 11, 31, 10));
    expect(await expiryOf('2199-12-31T10:00+02:00')).toBe(Date.UTC(2199, 11, 31, 8));
  });

  test('a key that expires says when, also after a second rotation within the overlap', async () => {
    const made = await openpit(['key', 'create', '--account', account, '--expires', '2199-12-31'], settings);
    expect(made.stdout).toContain(', valid until 2199-12-31T23:59:59.999Z, shown only once: ');
    const { keyId: id } = await json('key', 'create', '--account', account);
    expect((await openpit(['key', 'rotate', id], settings)).stdout).not.toContain('valid until');
    expect((await openpit(['key', 'rotate', id], settings)).stdout).toContain('valid until');
  });

  test('a rotation says until when the old key works: for the overlap, or until it expires', async () => {
    const { keyId } = await json('key', 'create', '--account', account);
    const before = Date.now();
    const { stdout } = await openpit(['key', 'rotate', keyId, '--overlap-seconds', '60'], settings);
    const until = stdout.match(new RegExp(`The old key ${keyId} works until (.+)\\.`))![1]!;
    expect(Date.parse(until) - before).toBeWithin(60_000, 120_000);
    const again = await openpit(['key', 'rotate', keyId, '--overlap-seconds', '3600'], settings);
    expect(again.stdout).toContain(`The old key ${keyId} works until ${until}.`);
  });

  test('the list of accounts says how old the counts of running servers may be', async () => {
    const { stdout } = await openpit(['account', 'list'], settings);
    expect(stdout).toMatch(/Acme.*\nCounts of running servers are seconds old, .* up to five minutes/s);
  });

  test('a list of accounts that is cut off says so; JSON has all of them', async () => {
    const many = { OPENPIT_DATA_DIR: newFolder() };
    const ledger = await Ledger.open(join(many.OPENPIT_DATA_DIR, 'openpit.db'), systemClock);
    for (let i = 0; i < 101; i++) await createAccount(ledger, { name: `${i}`, plan: 'free' }, i);
    await ledger.close();
    const list = async (...args: string[]) => (await openpit(['account', 'list', ...args], many)).stdout;
    expect(await list()).toContain('There are more than 100 accounts; see --search and --limit.');
    expect(await list('--limit', '101')).not.toContain('There are more');
    expect(JSON.parse(await list('--json'))).toHaveLength(101);
    expect(JSON.parse(await list('--json', '--limit', '5'))).toHaveLength(5);
  });

  test('every change is in the audit log, with the user who ran the command', async () => {
    await openpit(['plan', 'set', 'audited', '--quota', '10'], settings);
    await openpit(['plan', 'set', 'audited', '--quota', '20'], settings);
    const [changed, created] = await json('audit', '--search', 'audited');
    expect(created).toMatchObject({ via: 'cli', action: 'plan.create', target: 'audited' });
    expect(changed).toMatchObject({ action: 'plan.update', details: { quota: [10, 20] } });
    const { username } = userInfo({ encoding: 'utf8' });
    const name = username === 'unknown' ? Bun.spawnSync(['id', '-un']).stdout.toString().trim() : username;
    expect(changed.actor).toBe(`${name}@${hostname()}`);
    const { stdout } = await openpit(['audit', '--limit', '1'], settings);
    expect(stdout).toContain('plan.update');
    expect((await openpit(['audit', '--limit', '0'], settings)).stderr).toContain('--limit must be');
  });

  test('the limits of a plan may be as high as over HTTP', async () => {
    const { maxSymbols, maxSpanDays, delaySeconds, burstPerSecond } = PLAN_LIMITS;
    const plan = await json(
      ...['plan', 'set', 'wide', '--max-symbols', `${maxSymbols}`, '--max-span-days', `${maxSpanDays}`],
      ...['--delay-seconds', `${delaySeconds}`, '--burst', `${burstPerSecond}`],
    );
    expect(plan).toMatchObject(PLAN_LIMITS);
    expect(PLAN_CHANGE.safeParse(PLAN_LIMITS).success).toBe(true);
  });

  test('omitted options of a new plan default to those of basic', async () => {
    const plan = await json('plan', 'set', 'silver', '--quota', '77');
    const basic = (await json('plan', 'list')).find(({ name }: { name: string }) => name === 'basic');
    expect(plan).toEqual({ ...basic, name: 'silver', quota: 77 });
  });

  test('a rotated key expires after the overlap, and the new one has the same restrictions', async () => {
    const made = await json(
      'key',
      'create',
      '--account',
      account,
      '--allow-ip',
      '10.0.0.0/8',
      '--header-only',
    );
    const rotated = await json('key', 'rotate', made.keyId, '--overlap-seconds', '60');
    const keys: { id: string; expiresAt: number | null; allowedIps: string[] | null; headerOnly: boolean }[] =
      await json('key', 'list', '--account', account);
    const [old, fresh] = [made.keyId, rotated.keyId].map((id) => keys.find((key) => key.id === id)!);
    expect(old!.expiresAt).toBeLessThanOrEqual(Date.now() + 60_000);
    expect(fresh).toMatchObject({ expiresAt: null, allowedIps: ['10.0.0.0/8'], headerOnly: true });
  });

  test('an account is suspended, resumed and moved to another plan', async () => {
    expect(await json('account', 'suspend', account)).toMatchObject({ status: 'suspended' });
    expect(await json('account', 'resume', account)).toMatchObject({ status: 'active' });
    expect(await json('account', 'set-plan', account, '--plan', 'pro')).toMatchObject({ plan: 'pro' });
    expect(await json('account', 'show', account)).toMatchObject({ plan: 'pro', used: 0, quota: 100_000 });
    await openpit(['key', 'revoke', keyId], settings);
    const keys: { id: string; status: string }[] = await json('key', 'list', '--account', account);
    expect(keys.find((key) => key.id === keyId)?.status).toBe('revoked');
  });
});

test('a command whose output is lost fails: a key is shown only once', async () => {
  const settings = { OPENPIT_DATA_DIR: newFolder() };
  const create = ['account', 'create', '--name', 'Acme', '--plan', 'basic'];
  const toFullDisk = ['sh', '-c', '"$@" >/dev/full', 'sh'];
  const { exitCode, stderr } = await openpit(create, settings, undefined, toFullDisk);
  expect([exitCode, stderr.trim()]).toEqual([
    1,
    expect.stringContaining('openpit: ENOSPC: no space left on device, write (free space'),
  ]);
  const toHead = ['sh', '-c', '"$@" | head -c 1', 'sh'];
  const left = await openpit(['symbols', 'list', '--json'], settings, undefined, toHead);
  expect(left).toEqual({ exitCode: 0, stdout: '[', stderr: '' });
});
