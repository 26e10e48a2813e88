import { expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate } from '../../support/http/certificates.ts';
import { newFolder } from '../../support/ledger.ts';
import { Doctor } from '../../support/monitoring/doctor.ts';
import { openpit } from '../../support/program.ts';

setDefaultTimeout(180_000);

const DAY_MS = 86_400_000;
const LONG_TOKEN = '3f9c27d1a86be4507cd2';

test('every invalid setting is a problem, all are reported at once, and the rest is still checked', async () => {
  const doctor = await Doctor.run({
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_PORT: 'eighty',
    OPENPIT_CACHE_MB: '1',
    OPENPIT_TLS_CERT: '/cert.pem',
  });
  expect(doctor.exitCode).toBe(1);
  expect(doctor.of('settings.invalid').join('\n')).toMatch(
    /OPENPIT_TLS_CERT and OPENPIT_TLS_KEY must be set together.*\n?.*/s,
  );
  expect(doctor.of('settings.invalid')).toHaveLength(3);
  expect(doctor.of('disk.room')).toHaveLength(1);
});

test('a variable that is not a setting is a warning with the setting that was probably meant', async () => {
  const doctor = await Doctor.run({
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_PROT: '80',
    OPENPIT_DATABSE_URL: 'postgres://x',
    OPENPIT_FAVOURITE_COLOUR: 'red',
  });
  expect(doctor.of('settings.unknown')).toEqual([
    expect.stringMatching(/^warning: OPENPIT_PROT .* → rename it to OPENPIT_PORT$/),
    expect.stringMatching(/^warning: OPENPIT_DATABSE_URL .* → rename it to OPENPIT_DATABASE_URL$/),
    expect.stringMatching(/^warning: OPENPIT_FAVOURITE_COLOUR .* → remove it/),
  ]);
});

test('an admin token that can be guessed is a problem', async () => {
  const status = async (token: string) => {
    const doctor = await Doctor.run({ OPENPIT_DATA_DIR: newFolder(), OPENPIT_ADMIN_TOKEN: token });
    expect(doctor.output).not.toContain(token);
    return doctor.of('settings.admin_token').map((one) => one.split(':')[0]);
  };
  expect(await status('hunter2')).toEqual(['problem']);
  expect(await status('aaaaaaaaaaaaaaaaaaaaaaaaa')).toEqual(['problem']);
  expect(await status(LONG_TOKEN)).toEqual([]);
});

test('proxies: the whole internet is a problem, a wide range a warning, single addresses are fine', async () => {
  const doctor = await Doctor.run({
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_TRUSTED_PROXIES: '0.0.0.0/0,10.0.0.0/8,10.1.2.3,2001:db8::1,::/0',
  });
  expect(doctor.of('settings.trusted_proxies').map((one) => one.split(':')[0])).toEqual([
    'problem',
    'warning',
    'problem',
  ]);
});

test('listening on all addresses without TLS and without a proxy is a warning', async () => {
  const complaints = async (more: Record<string, string>) =>
    (await Doctor.run({ OPENPIT_DATA_DIR: newFolder(), ...more })).of('settings.plain_text').length;
  expect(await complaints({ OPENPIT_HOST: '0.0.0.0' })).toBe(1);
  expect(await complaints({ OPENPIT_HOST: '0.0.0.0', OPENPIT_TRUSTED_PROXIES: '10.1.2.3' })).toBe(0);
  expect(await complaints({ OPENPIT_HOST: '127.0.0.1' })).toBe(0);
});

test('certificates: missing, expired, expiring soon, with a key that others can read', async () => {
  const folder = newFolder();
  const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const settings = {
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_HOST: '0.0.0.0',
    OPENPIT_TLS_CERT: cert,
    OPENPIT_TLS_KEY: key,
  };
  const issue = (days: number) => {
    const made = makeCertificate({
      validFrom: Date.now() - 10 * DAY_MS,
      validTo: Date.now() + days * DAY_MS,
    });
    writeFileSync(cert, made.cert);
    writeFileSync(key, made.key, { mode: 0o600 });
  };
  const finding = async (check = 'settings.tls') => (await Doctor.run(settings)).of(check)[0];
  expect(await finding()).toMatch(/^problem: OPENPIT_TLS_CERT .*no such file/);
  issue(90);
  expect(await finding()).toMatch(/^ok: /);
  issue(3);
  expect(await finding()).toMatch(/^warning: the certificate expires/);
  issue(-1);
  expect(await finding()).toMatch(/^problem: the certificate expired/);
  chmodSync(key, 0o644);
  expect(await finding('settings.tls_key')).toMatch(/^problem: .*chmod 600/);
  writeFileSync(key, 'not a key');
  expect(await finding()).toMatch(/^problem: OPENPIT_TLS_KEY/);
});

test('an access log in a missing folder is a problem, a webhook without TLS a warning', async () => {
  const doctor = await Doctor.run({
    OPENPIT_DATA_DIR: newFolder(),
    OPENPIT_ACCESS_LOG: '/nowhere/at/all/access.log',
    OPENPIT_WEBHOOK_URL: 'http://hooks.example/x',
    OPENPIT_READ_URL: 'postgres://standby/openpit',
  });
  expect(doctor.of('settings.no_effect')[0]).toMatch(/^warning: OPENPIT_READ_URL has no effect/);
  expect(doctor.of('settings.access_log')[0]).toMatch(/^problem/);
  expect(doctor.of('settings.webhook')[0]).toMatch(/^warning/);
});

test.each(['http://[::1]:9000/x', 'http://127.0.0.1:9000/x', 'https://hooks.example/x'])(
  'a webhook on this machine, or with TLS, is no finding: %s',
  async (url) => {
    const doctor = await Doctor.run({ OPENPIT_DATA_DIR: newFolder(), OPENPIT_WEBHOOK_URL: url });
    expect(doctor.of('settings.webhook')).toEqual([]);
  },
);

test('the text report has a line for each finding, with its fix', async () => {
  const { stdout, stderr, exitCode } = await openpit(['doctor', '--admin-token', 'short'], {
    OPENPIT_DATA_DIR: newFolder(),
  });
  expect(exitCode).toBe(1);
  expect(stdout).toMatch(/^PROBLEM {2}settings\.admin_token +.*\n +→ set OPENPIT_ADMIN_TOKEN/m);
  expect(stdout).toMatch(/^ok {7}disk\.room/m);
  expect(stdout).toEndWith('1 problem, 1 warning.\n');
  expect(stderr).toBe('openpit: the doctor found 1 problem\n');
});
