import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS, type SettingName } from '../../../src/config/settings.ts';
import { makeCertificate } from '../../support/http/certificates.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

/** One start with every setting at a non-default value. `npm test` also runs it with the single-file build. */
setDefaultTimeout(180_000);

const folder = newFolder();
const accessLog = join(folder, 'access.log');
const TOKEN = 'a-long-token-of-the-operator';
const { cert, key } = makeCertificate();
const tlsFiles = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
writeFileSync(tlsFiles.cert, cert);
writeFileSync(tlsFiles.key, key, { mode: 0o600 });
const VALUES: Readonly<Record<SettingName, string>> = {
  OPENPIT_HOST: '127.0.0.2',
  OPENPIT_PORT: '0',
  OPENPIT_HTTP: 'bun',
  OPENPIT_TLS_CERT: tlsFiles.cert,
  OPENPIT_TLS_KEY: tlsFiles.key,
  OPENPIT_DATA_DIR: join(folder, 'data'),
  OPENPIT_DATABASE_URL: `sqlite://${join(folder, 'elsewhere.db')}`,
  OPENPIT_READ_URL: 'postgres://127.0.0.1:9/standby',
  OPENPIT_DATABASE_WAIT_SECONDS: '5',
  OPENPIT_DEMO: 'true',
  OPENPIT_MOUNTS: '/api',
  OPENPIT_TRUSTED_PROXIES: '127.0.0.0/8',
  OPENPIT_ADMIN_TOKEN: TOKEN,
  OPENPIT_PUBLIC_PLAN: 'free',
  OPENPIT_WEBHOOK_URL: 'http://127.0.0.1:9/hook',
  OPENPIT_WEBHOOK_SECRET: 'whsec_GTabceBwgx3cw+JIpfo6OHi6JO8s8i6W',
  OPENPIT_FAILED_KEYS_PER_MINUTE: '2',
  OPENPIT_KEEP_USAGE_MONTHS: '12',
  OPENPIT_KEEP_KEYS_DAYS: '30',
  OPENPIT_KEEP_IMPORTS_DAYS: '30',
  OPENPIT_KEEP_AUDIT_DAYS: '30',
  OPENPIT_MINUTE_BARS_DAYS: '30',
  OPENPIT_HISTORY_MB: '64',
  OPENPIT_CACHE_MB: '48',
  OPENPIT_DRAIN_SECONDS: '1',
  OPENPIT_PROCESSES: '2',
  OPENPIT_LOG_LEVEL: 'debug',
  OPENPIT_ACCESS_LOG: accessLog,
  OPENPIT_FRED_API_KEY: 'fred-key',
  OPENPIT_EIA_API_KEY: 'eia-key',
};

test('every setting has a value here that is not its default', () => {
  expect(Object.keys(VALUES).sort()).toEqual(SETTINGS.map(({ env }) => env).sort());
  for (const setting of SETTINGS) expect(VALUES[setting.env], setting.env).not.toBe(setting.default);
});

test('the program starts with every setting changed, and those visible from outside take effect', async () => {
  const program = await Program.start(VALUES);
  try {
    expect(program.url).toStartWith('https://127.0.0.2:');
    expect(program.stdout).toContain('SIMULATED');
    expect(program.stdout).toContain('Processes: 2');
    expect(program.stdout).toContain(`curl '${program.url}/api/rates/latest?`);
    expect(program.stdout).not.toContain('Open it:'); // the page needs /
    expect(existsSync(join(folder, 'elsewhere.db'))).toBe(true);
    expect(readdirSync(join(folder, 'data'))).toContain('spool');
    expect((await program.get('/api/rates/latest?symbols=XAU')).status).toBe(200);
    expect((await program.get('/rates/latest?symbols=XAU')).status).toBe(404);
    expect((await program.get('/metrics', '')).status).toBe(401);
    expect(await program.metrics(TOKEN)).toContain('openpit_ready');
    await eventually(
      async () => existsSync(accessLog) && readFileSync(accessLog, 'utf8').includes('/api/rates'),
    );
    await eventually(async () => program.stderr.includes('"level":"debug"'));
    // Two processes with a limit of two each: of ten wrong keys of one forwarded client, some get 429.
    const wrong = async () =>
      (
        await program.fetch('/api/usage', {
          headers: { 'x-api-key': 'pit_live_wrong', 'x-forwarded-for': '203.0.113.7', connection: 'close' },
        })
      ).status;
    const statuses = [];
    for (let i = 0; i < 10; i++) statuses.push(await wrong());
    expect(statuses).toContain(429);
  } finally {
    expect(await program.end()).toBe(0);
  }
});

test('settings are accepted as options, and an invalid value is refused with the name of its setting', async () => {
  const { exitCode, stdout } = await openpit(['serve', '--help'], {});
  expect(exitCode).toBe(0);
  for (const { env } of SETTINGS) expect(stdout).toContain(`[${env}`);
  const refused = await openpit(['serve', '--cache-mb', '1'], {});
  expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('OPENPIT_CACHE_MB') });
});

test('the deploy files use only existing settings and commands', async () => {
  const known = new Set<string>(SETTINGS.map(({ env }) => env));
  const deploy = join(import.meta.dir, '../../../deploy');
  for (const name of readdirSync(deploy)) {
    const text = readFileSync(join(deploy, name), 'utf8');
    for (const [used] of text.matchAll(/OPENPIT_[A-Z_]+/g)) expect(known, `${name}: ${used}`).toContain(used);
  }
  const unit = readFileSync(join(deploy, 'openpit.service'), 'utf8');
  const [, called] = /^ExecStart=\S+ (.*)$/m.exec(unit)!;
  const [, image] = /^CMD (\[.*\])$/m.exec(readFileSync(join(deploy, 'Dockerfile'), 'utf8'))!;
  for (const args of [called!.split(' '), JSON.parse(image!)]) {
    expect(await openpit([...args, '--help'], {})).toMatchObject({ exitCode: 0, stderr: '' });
  }
});

test('the service of systemd may write the access log where the manual puts it', () => {
  const read = (path: string) => readFileSync(join(import.meta.dir, '../../..', path), 'utf8');
  const [, folder] = /`OPENPIT_ACCESS_LOG=\/var\/log\/(.*)\/access\.log`/.exec(read('docs/operating.md'))!;
  expect(read('deploy/openpit.service')).toContain(`\nLogsDirectory=${folder}\n`);
});
