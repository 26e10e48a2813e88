import { afterAll, describe, expect, test } from 'bun:test';
import { connect as connectTcp } from 'node:net';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { makeCertificate, type TestCertificate } from '../../../test/support/http/certificates.ts';
import { get, ManualSeconds, READY, send, serveHere } from '../../../test/support/http/raw-http.ts';
import { eventually } from '../../../test/support/program.ts';
import { reply } from '../message/reply.ts';
import { parseCredentials } from './credentials.ts';

const first = makeCertificate({ commonName: 'first' });
const second = makeCertificate({ commonName: 'second' });
const rsa = makeCertificate({ commonName: 'rsa', type: 'rsa' });
const credentialsOf = ({ cert, key }: TestCertificate) => parseCredentials(cert, key);

const LARGE_BYTES = 5_000_000;
const errors: unknown[] = [];
const time = new ManualSeconds();
const server = serveHere({
  handle: ({ url }) => {
    if (url === '/ready') return READY;
    return reply(url === '/large' ? 'x'.repeat(LARGE_BYTES) : url, {});
  },
  refuse: ({ status }) => reply(null, {}, status),
  onError: (error) => errors.push(error),
  everySecond: time.every,
  tls: credentialsOf(first),
});
afterAll(() => server.stop(0));

/** Resolves when the handshake is done; rejects when it fails. */
function handshake(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const ca = [first.cert, second.cert, rsa.cert];
  const socket = connect({ host: '127.0.0.1', port: server.port, ca, ...options }, () => resolve(socket));
  socket.on('error', reject);
  return promise;
}

async function commonName(options?: ConnectionOptions): Promise<string> {
  const socket = await handshake(options);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

/** Sends a request on an open connection and returns the response once it ends as expected. */
async function ask(socket: TLSSocket, request: string, end: string): Promise<string> {
  let text = '';
  const take = (bytes: Buffer) => {
    text += bytes.toString('latin1');
  };
  socket.on('data', take);
  socket.write(request);
  await eventually(async () => text.endsWith(end));
  socket.off('data', take);
  return text;
}

describe('a handshake', () => {
  test('needs TLS 1.2 or later', async () => {
    for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
      const socket = await handshake({ minVersion: version, maxVersion: version });
      expect(socket.getProtocol()).toBe(version);
      socket.destroy();
    }
    for (const version of ['TLSv1', 'TLSv1.1'] as const) {
      await expect(handshake({ minVersion: version, maxVersion: version })).rejects.toThrow();
    }
  });

  test('of TLS 1.2 needs a cipher with forward secrecy and authenticated encryption', async () => {
    server.setCredentials(credentialsOf(rsa));
    const using = (ciphers: string) => handshake({ maxVersion: 'TLSv1.2', ciphers });
    for (const weak of ['AES128-SHA', 'AES256-GCM-SHA384', 'ECDHE-RSA-AES128-SHA']) {
      await expect(using(weak), weak).rejects.toThrow();
    }
    for (const strong of ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-CHACHA20-POLY1305']) {
      (await using(strong)).destroy();
    }
  });

  test('agrees on HTTP/1.1 and nothing else', async () => {
    const socket = await handshake({ ALPNProtocols: ['h2', 'http/1.1'] });
    expect(socket.alpnProtocol).toBe('http/1.1');
    socket.destroy();
    await expect(handshake({ ALPNProtocols: ['h2'] })).rejects.toThrow();
  });

  test('has 12 s, like a first request', async () => {
    const clientHello = Buffer.of(0x16, 3, 1, 2, 0, 1, 0, 1); // the beginning of one
    for (const bytes of ['', clientHello]) {
      const socket = connectTcp(server.port, '127.0.0.1');
      const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
      socket.on('error', () => {});
      socket.resume();
      await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
      (await handshake()).destroy(); // the server has read what came before
      time.pass(12);
      await ask(await handshake(), get('/well'), '/well');
      expect(socket.closed).toBe(false);
      time.pass(1);
      await closed;
    }
  });

  test('that is plain HTTP is closed without a response, and is not reported as an error', async () => {
    expect(await send(server.port, get('/a'))).toBe('');
    expect(errors).toEqual([]);
  });
});

describe('a renewed certificate', () => {
  test('is used from the next handshake on, with and without a server name, while open connections continue', async () => {
    server.setCredentials(credentialsOf(first));
    expect(await commonName()).toBe('first');
    const open = await handshake();
    const download = await handshake();
    const large = get('/large');
    download.write(large);
    download.pause();
    server.setCredentials(credentialsOf(second));
    expect([await commonName(), await commonName({ servername: 'localhost' })]).toEqual(['second', 'second']);
    await ask(open, get('/same-connection'), '/same-connection');
    let received = 0;
    download.on('data', (bytes) => {
      received += bytes.length;
    });
    download.resume();
    await eventually(async () => received > LARGE_BYTES);
    for (const socket of [open, download]) socket.destroy();
  });

  test('breaks no connection, however often it is replaced', async () => {
    let done = false;
    let connections = 0;
    const clients = Array.from({ length: 4 }, async () => {
      while (!done) {
        await commonName();
        connections++;
      }
    });
    for (let i = 0; i < 50; i++) {
      server.setCredentials(credentialsOf(i % 2 ? second : rsa));
      const before = connections;
      await eventually(async () => connections > before);
    }
    done = true;
    await Promise.all(clients);
  });

  test('that is invalid changes nothing', async () => {
    server.setCredentials(credentialsOf(second));
    expect(() => server.setCredentials({ ...credentialsOf(first), key: second.key })).toThrow();
    expect(await commonName()).toBe('second');
  });
});

test('every response over TLS has an HSTS header, and none without TLS', async () => {
  const HSTS = '\r\nStrict-Transport-Security: max-age=31536000\r\n';
  const socket = await handshake();
  for (const path of ['/ready', '/reply']) {
    const response = await ask(socket, get(path), path.slice(1));
    expect(response).toContain(HSTS);
    expect(response.match(/Content-Length/g)).toHaveLength(1);
  }
  expect(await ask(socket, 'not HTTP\r\n\r\n', '\r\n\r\n')).toContain(HSTS);
  const plain = serveHere({ handle: () => READY, refuse: ({ status }) => reply(null, {}, status) });
  expect(await send(plain.port, get('/', 'Connection: close\r\n'))).not.toContain('Strict-Transport');
  await plain.stop(0);
});
