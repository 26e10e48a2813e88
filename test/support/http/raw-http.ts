import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { serve } from '../../../src/http/server.ts';
import type { HttpServer, ServerOptions } from '../../../src/http/server-options.ts';
import { type Credentials, parseCredentials } from '../../../src/http/tls/credentials.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { makeCertificate } from './certificates.ts';

/** Connection tests run over both. */
export const TRANSPORTS = ['TCP', 'TLS'] as const;
export type Transport = (typeof TRANSPORTS)[number];

const { cert, key } = makeCertificate();

/** The credentials of a server for a transport. */
export function credentialsFor(transport: Transport): Credentials | undefined {
  return transport === 'TLS' ? parseCredentials(cert, key) : undefined;
}

/** A raw connection to a local server: what it has sent so far, and all of it once the server has closed. */
export function open(
  port: number,
  transport: Transport = 'TCP',
): { socket: Socket; all: Promise<string>; got: () => string } {
  let text = '';
  const host = '127.0.0.1';
  const socket = transport === 'TLS' ? connectTls({ host, port, ca: cert }) : connect(port, host);
  const done = Promise.withResolvers<string>();
  socket.on('data', (bytes) => {
    text += bytes.toString('latin1');
  });
  socket.on('error', () => {});
  socket.on('close', () => done.resolve(text));
  return { socket, all: done.promise, got: () => text };
}

/** Sends bytes and returns everything received until the server closes. */
export function send(port: number, bytes: string, transport?: Transport): Promise<string> {
  const { socket, all } = open(port, transport);
  socket.write(bytes);
  return all;
}

/** The same for a client that closes its sending side. */
export function sendAll(port: number, bytes: string, transport?: Transport): Promise<string> {
  const { socket, all } = open(port, transport);
  socket.end(bytes);
  return all;
}

export const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n') + 4);

export const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;

export const post = (
  path: string,
  body: string,
  headers = `Content-Length: ${Buffer.byteLength(body)}\r\n`,
) => `POST ${path} HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;

/** A raw response. */
export const READY = {
  status: 200,
  bytes: Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready'),
};

/** Serves on a free local port. */
export function serveHere(
  answers: Pick<ServerOptions, 'handle' | 'refuse'> & Partial<ServerOptions>,
): HttpServer {
  return serve({
    hostname: '127.0.0.1',
    port: 0,
    isShared: false,
    clock: systemClock,
    onError: () => {},
    ...answers,
  });
}

/** Seconds for a server that pass only when a test says so. */
export class ManualSeconds {
  #sweep = () => {};

  readonly every = (sweep: () => void) => {
    this.#sweep = sweep;
    return () => {};
  };

  pass(seconds: number): void {
    for (let i = 0; i < seconds; i++) this.#sweep();
  }
}

/** Time for a draining server that passes only when a test says so. */
export class ManualTime {
  #now = 0;
  #sleepers: { until: number; wake: () => void }[] = [];

  readonly now = () => this.#now;

  readonly sleep = (ms: number) =>
    new Promise<void>((wake) => {
      this.#sleepers.push({ until: this.#now + ms, wake });
    });

  async pass(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      const next = this.#sleepers.toSorted((a, b) => a.until - b.until)[0];
      if (!next || next.until > end) break;
      this.#sleepers = this.#sleepers.filter((one) => one !== next);
      this.#now = next.until;
      next.wake();
      await new Promise((resolve) => setImmediate(resolve)); // the sleeper may sleep again
    }
    this.#now = end;
  }
}
