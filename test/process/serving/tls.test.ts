import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { demoFolder } from '../../support/database/demo-folder.ts';
import { makeCertificate, type TestCertificate } from '../../support/http/certificates.ts';
import { newFolder } from '../../support/ledger.ts';
import { eventually, openpit, Program } from '../../support/program.ts';

setDefaultTimeout(180_000);

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

const DAY_MS = 86_400_000;
const TOKEN = 'a-long-token-of-the-operator';

function write(folder: string, { cert, key }: TestCertificate): void {
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key, { mode: 0o600 });
}

function settingsOf(folder: string): Record<string, string> {
  return {
    OPENPIT_DATA_DIR: folder,
    OPENPIT_TLS_CERT: join(folder, 'tls.crt'),
    OPENPIT_TLS_KEY: join(folder, 'tls.key'),
    OPENPIT_ADMIN_TOKEN: TOKEN,
  };
}

async function startWith(certificate: TestCertificate, more: Record<string, string> = {}) {
  const folder = await demoFolder();
  write(folder, certificate);
  program = await Program.start({ ...settingsOf(folder), ...more });
  return { folder, program, port: Number(new URL(program.url).port) };
}

/** The name in the certificate that a new connection gets. */
function nameShown(port: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
    resolve(String(socket.getPeerCertificate().subject.CN));
    socket.destroy();
  });
  socket.on('error', reject);
  return promise;
}

const alarmsOf = async (one: Program) => (await one.metrics(TOKEN)).match(/openpit_alarm\{[^}]*tls[^}]*\}/g);

describe('HTTPS', () => {
  test('is served to Bun’s fetch, which verifies the certificate, for prices, the page and a whole table', async () => {
    const { program } = await startWith(makeCertificate());
    expect(program.url).toStartWith('https://');
    const latest = await program.get('/rates/latest?symbols=XAU');
    expect(latest.headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(await latest.json()).toMatchObject({ success: true });
    expect(await (await program.get('/', '')).text()).toContain('<html');
    const table = await program.get(
      '/rates/history?symbols=XAU,XAG,WTIOIL-FUT&startDate=2016-01-01&endDate=2026-01-01&format=csv',
    );
    expect((await table.text()).trim().split('\n').length).toBeGreaterThan(6_000);
    await expect(fetch(`${program.url}/health`)).rejects.toThrow(); // a self-signed certificate
    expect(await program.end()).toBe(0);
  });

  test.skipIf(Bun.which('curl') === null)('is served to curl, twice on one connection', async () => {
    const { folder, program } = await startWith(makeCertificate({ type: 'rsa' }));
    const url = `${program.url}/rates/latest?symbols=XAU`;
    const args = ['--silent', '--show-error', '--cacert', join(folder, 'tls.crt'), '--header'];
    const curl = Bun.spawn(
      [
        'curl',
        '--write-out',
        '%{http_code} %{num_connects}\n',
        ...args,
        `x-api-key: ${program.key}`,
        url,
        url,
      ],
      { stdout: 'pipe', stderr: 'pipe' },
    );
    const output = await new Response(curl.stdout).text();
    expect(await new Response(curl.stderr).text()).toBe('');
    expect(output).toMatch(/"success":true.*200 1\n.*"success":true.*200 0\n$/s);
  });

  test.skipIf(Bun.which('openssl') === null)('is TLS 1.3 to OpenSSL, and never TLS 1.1', async () => {
    const { port } = await startWith(makeCertificate());
    const session = (...args: string[]) => {
      const address = ['-connect', `127.0.0.1:${port}`];
      const { stdout, stderr } = Bun.spawnSync(['openssl', 's_client', ...address, ...args], {
        stdin: new Uint8Array(),
      });
      return `${stdout}${stderr}`;
    };
    expect(session()).toContain('TLSv1.3');
    expect(session('-tls1_2')).toMatch(/Cipher is ECDHE-ECDSA-(AES|CHACHA)/);
    expect(session('-tls1_1', '-cipher', 'DEFAULT@SECLEVEL=0')).toContain('Cipher is (NONE)');
  });

  test('with several processes is served by all of them, and all reload a renewed certificate', async () => {
    const first = makeCertificate({ commonName: 'first' });
    const { folder, port } = await startWith(first, { OPENPIT_PROCESSES: '2' });
    const namesShown = async () =>
      new Set(await Promise.all(Array.from({ length: 20 }, () => nameShown(port))));
    expect(await namesShown()).toEqual(new Set(['first']));
    write(folder, makeCertificate({ commonName: 'second' }));
    await eventually(async () => {
      const names = await namesShown();
      return names.size === 1 && names.has('second');
    });
  });
});

test('a renewed certificate is used without a restart; an invalid one raises an alarm and the old one stays in use', async () => {
  const { folder, program, port } = await startWith(
    makeCertificate({ commonName: 'first', validTo: Date.now() + 10 * DAY_MS }),
  );
  await eventually(async () => program.stderr.includes('tls.expires_soon'));
  const open = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  let received = '';
  open.on('data', (bytes) => {
    received += bytes.toString();
  });
  const answers = () => received.split('200 OK').length - 1;
  const ask = () => open.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
  ask();
  await eventually(async () => answers() === 1);

  const renewed = makeCertificate({ commonName: 'second', validTo: Date.now() + 100 * DAY_MS });
  writeFileSync(join(folder, 'tls.crt'), renewed.cert);
  await eventually(async () => program.stderr.includes('tls.renewal_failed'));
  expect(await nameShown(port)).toBe('first');
  write(folder, renewed);
  await eventually(async () => (await nameShown(port)) === 'second');
  await eventually(async () => program.stderr.split('alarm is over').length === 3);

  ask(); // on the connection of the first certificate
  await eventually(async () => answers() === 2);
  open.destroy();
});

test('the metrics have the expiry of the certificate in use, and its alarms', async () => {
  const validTo = Math.floor(Date.now() / 1_000) * 1_000 + 10 * DAY_MS;
  const { program } = await startWith(makeCertificate({ validTo }));
  expect(await program.metrics(TOKEN)).toContain(
    `\nopenpit_tls_certificate_expiry_timestamp_seconds ${validTo / 1_000}\n`,
  );
  expect(await alarmsOf(program)).toEqual(['openpit_alarm{alarm="tls.expires_soon"}']);
});

describe('a start with invalid files ends with exit code 2 and one line', () => {
  const { cert } = makeCertificate();
  const { key } = makeCertificate();
  test.each([
    ['1', 'the certificate is missing', undefined, /OPENPIT_TLS_CERT .*no such file/],
    ['1', 'the key does not belong to the certificate', { cert, key }, /OPENPIT_TLS_KEY .*does not belong/],
    ['2', 'the key does not belong to the certificate', { cert, key }, /OPENPIT_TLS_KEY .*does not belong/],
  ])('with %s process(es): %s', async (processes, _, certificate, reason) => {
    const folder = newFolder();
    if (certificate) write(folder, certificate);
    const { exitCode, stderr } = await openpit(['serve', '--processes', processes], settingsOf(folder));
    expect(stderr).toMatch(reason);
    expect({ exitCode, lines: stderr.trim().split('\n').length }).toEqual({ exitCode: 2, lines: 1 });
  });

  test('one setting without the other', async () => {
    const { exitCode, stderr } = await openpit(['serve', '--tls-cert', 'a.crt'], {
      OPENPIT_DATA_DIR: newFolder(),
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'openpit: OPENPIT_TLS_CERT and OPENPIT_TLS_KEY must be set together.\n',
    });
  });
});

test('a private key that every user can read causes a warning', async () => {
  const folder = newFolder();
  write(folder, makeCertificate());
  chmodSync(join(folder, 'tls.key'), 0o644);
  program = await Program.start(settingsOf(folder));
  await eventually(async () => program!.stderr.includes('every user of this machine can read'));
});

test('two processes post an alarm once, and a receiver that hangs does not delay their stop', async () => {
  const received: string[] = [];
  const receiver = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      received.push(((await request.json()) as { type: string }).type);
      return new Promise<Response>(() => {});
    },
  });
  try {
    const { program } = await startWith(makeCertificate({ validTo: Date.now() + 5 * DAY_MS }), {
      OPENPIT_PROCESSES: '2',
      OPENPIT_WEBHOOK_URL: `http://127.0.0.1:${receiver.port}`,
    });
    await eventually(async () => received.length > 0);
    await Bun.sleep(2_000); // the other process asks every second whether it has been delivered
    expect(received).toEqual(['tls.expires_soon']);
    expect(program.stderr.match(/"event":"alarm"/g)).toHaveLength(2);
    expect(await program.end()).toBe(0);
    expect(program.stderr).not.toContain('webhook failed'); // after ten seconds, if it had waited
  } finally {
    await receiver.stop(true);
  }
});
