import { afterAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeCertificate, type TestCertificate } from '../../../test/support/http/certificates.ts';
import { newFolder } from '../../../test/support/ledger.ts';
import { DAY_MS } from '../../runtime/durations.ts';
import { createLog } from '../../runtime/log/log.ts';
import { readCredentials } from './certificate-files.ts';
import { CertificateMonitor } from './certificate-monitor.ts';

const NOON = Date.UTC(2026, 10, 16, 12);
const first = makeCertificate({ validFrom: NOON - DAY_MS, validTo: NOON + 90 * DAY_MS });
const second = makeCertificate({ validFrom: NOON, validTo: NOON + 180 * DAY_MS });

function written({ cert, key }: Partial<TestCertificate>, folder = newFolder()) {
  const files = { cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') };
  if (cert !== undefined) writeFileSync(files.cert, cert);
  if (key !== undefined) writeFileSync(files.key, key, { mode: 0o600 });
  return files;
}

async function monitored(files = written(first)) {
  const clock = { time: NOON, now: () => clock.time };
  const lines: string[] = [];
  const log = createLog('info', clock, (line) => lines.push(line));
  const monitor = await CertificateMonitor.open(files, clock, log);
  const used: string[] = [];
  monitor.onRenewed = ({ cert }) => void used.push(cert);
  const alarms = () => monitor.alarms().map(({ name }) => name);
  return { files, clock, lines, monitor, used, alarms };
}

describe('invalid files are refused in one line that names the setting, the file and the reason', () => {
  const folder = newFolder();
  const closed = written(first);
  chmodSync(closed.key, 0);
  afterAll(() => chmodSync(closed.key, 0o600));
  const encrypted = '-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n';
  const damaged = first.cert.replace(/\n\w{10}/, '\nAAAAAAAAAA');
  const cases: [string, ReturnType<typeof written>, RegExp][] = [
    ['a missing certificate', written({ key: first.key }), /^OPENPIT_TLS_CERT \(.*tls\.crt\).*no such file/],
    ['a missing key', written({ cert: first.cert }), /^OPENPIT_TLS_KEY \(.*tls\.key\).*no such file/],
    ['a folder', { ...written(first), cert: folder }, /^OPENPIT_TLS_CERT/],
    ['a text that is no PEM', written({ ...first, cert: 'hello' }), /^OPENPIT_TLS_CERT.*no certificate/],
    ['a damaged certificate', written({ ...first, cert: damaged }), /^OPENPIT_TLS_CERT.*certificate 1 of 1/],
    [
      'a damaged certificate further up the chain',
      written({ ...first, cert: first.cert + damaged }),
      /^OPENPIT_TLS_CERT.*certificate 2 of 2/,
    ],
    ['a certificate as the key', written({ ...first, key: first.cert }), /^OPENPIT_TLS_KEY.*no private key/],
    ['a key with a passphrase', written({ ...first, key: encrypted }), /^OPENPIT_TLS_KEY.*passphrase/],
    ['a key of another certificate', written({ ...first, key: second.key }), /^OPENPIT_TLS_KEY.*not belong/],
  ];
  if (process.getuid?.() !== 0) cases.push(['an unreadable key', closed, /^OPENPIT_TLS_KEY.*may not read/]);

  test.each(cases)('%s', async (_, files, reason) => {
    const { message } = await readCredentials(files).then(
      () => new Error('it was accepted'),
      (error: Error) => error,
    );
    expect(message).toMatch(reason);
    expect(message).not.toContain('\n');
  });
});

test('a chain behind the certificate is accepted, and the first certificate decides the expiry', async () => {
  const chain = first.cert + second.cert;
  const { monitor } = await monitored(written({ cert: chain, key: first.key }));
  expect(monitor.credentials).toMatchObject({ cert: chain, validTo: NOON + 90 * DAY_MS });
  const [gauge] = monitor.gauges();
  expect(gauge!.value()).toBe((NOON + 90 * DAY_MS) / 1_000);
});

test('a key that every user can read causes a warning, at the start and after a renewal', async () => {
  const files = written(first);
  chmodSync(files.key, 0o640);
  const { lines, monitor } = await monitored(files);
  expect(lines.join('')).not.toContain('can read the private key');
  chmodSync(files.key, 0o644);
  written(second, join(files.key, '..'));
  await monitor.check();
  expect(lines.join('').match(/can read the private key/g)).toHaveLength(1);
  const { lines: atStart } = await monitored(files);
  expect(atStart.join('')).toContain('can read the private key');
});

describe('a renewal', () => {
  test('is used and logged with its expiry once, and unchanged files change nothing', async () => {
    const { files, monitor, used, lines } = await monitored();
    await monitor.check();
    expect(used).toEqual([]);
    written(second, join(files.key, '..'));
    await monitor.check();
    await monitor.check();
    expect(used).toEqual([second.cert]);
    expect(monitor.credentials.validTo).toBe(NOON + 180 * DAY_MS);
    expect(lines.join('')).toContain('2027-05-15T12:00:00.000Z');
  });

  test('by a changed symbolic link, as certbot and Kubernetes do it, is noticed', async () => {
    const folder = newFolder();
    for (const [name, certificate] of Object.entries({ first, second })) {
      mkdirSync(join(folder, name));
      written(certificate, join(folder, name));
    }
    symlinkSync(join(folder, 'first'), join(folder, 'live'));
    const live = join(folder, 'live');
    const { monitor, used } = await monitored({ cert: join(live, 'tls.crt'), key: join(live, 'tls.key') });
    symlinkSync(join(folder, 'second'), join(folder, 'next'));
    renameSync(join(folder, 'next'), live);
    await monitor.check();
    expect(used).toEqual([second.cert]);
  });

  test('that writes one file later than the other raises no alarm', async () => {
    const { files, monitor, used, alarms } = await monitored();
    writeFileSync(files.cert, second.cert);
    await monitor.check();
    expect(alarms()).toEqual([]);
    writeFileSync(files.key, second.key);
    await monitor.check();
    expect({ used, alarms: alarms() }).toEqual({ used: [second.cert], alarms: [] });
  });

  test('that is invalid keeps the earlier certificate and raises an alarm until it is repaired', async () => {
    const { files, monitor, used, alarms, clock } = await monitored();
    rmSync(files.key);
    await monitor.check();
    clock.time += 5_000;
    await monitor.check();
    expect(monitor.alarms()).toMatchObject([
      {
        name: 'tls.renewal_failed',
        since: NOON,
        event: { type: 'tls.renewal_failed', reason: expect.stringContaining('no such file') },
      },
    ]);
    expect({ used, cert: monitor.credentials.cert }).toEqual({ used: [], cert: first.cert });
    written(first, join(files.key, '..'));
    await monitor.check();
    expect(alarms()).toEqual([]);
  });

  test('that the listener refuses raises an alarm too, and is retried', async () => {
    const { files, monitor, alarms } = await monitored();
    let attempts = 0;
    monitor.onRenewed = () => {
      attempts++;
      throw new Error('the listener refused');
    };
    written(second, join(files.key, '..'));
    await monitor.check();
    await monitor.check();
    expect({ attempts, alarms: alarms() }).toEqual({ attempts: 2, alarms: ['tls.renewal_failed'] });
    expect(monitor.credentials.cert).toBe(first.cert);
  });
});

test('an alarm is raised 14 days before expiry, another one at expiry, and a renewal ends them', async () => {
  const { files, clock, monitor, alarms } = await monitored();
  clock.time = NOON + 76 * DAY_MS - 1;
  expect(alarms()).toEqual([]);
  clock.time = NOON + 76 * DAY_MS;
  expect(monitor.alarms()).toMatchObject([
    { name: 'tls.expires_soon', event: { expiresAt: '2027-02-14T12:00:00.000Z', certificate: files.cert } },
  ]);
  clock.time = NOON + 90 * DAY_MS;
  expect(alarms()).toEqual(['tls.expired']);
  written(second, join(files.key, '..'));
  await monitor.check();
  expect(alarms()).toEqual([]);
});

test('a certificate that is not valid yet raises an alarm', async () => {
  const { clock, alarms } = await monitored();
  clock.time = NOON - 2 * DAY_MS;
  expect(alarms()).toEqual(['tls.not_yet_valid']);
});
