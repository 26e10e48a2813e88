import type { Clock } from '../runtime/clock.ts';
import { Connection } from './connection/connection.ts';
import { IoBatch } from './connection/io-batch.ts';
import type { ConnectionState } from './connection/limits.ts';
import type { Handler, ServerState } from './connection/options.ts';
import { connectionsMax } from './fd-limit.ts';
import type { Fault } from './message/fault.ts';
import type { Reply } from './message/reply.ts';
import { HeadCache } from './parse/head-cache.ts';
import type { Credentials } from './tls/credentials.ts';
import { listenerTls, setCredentials } from './tls/secure-context.ts';

export interface ServerOptions {
  hostname: string;
  port: number;
  /** Whether other processes of this machine may listen on the same port. */
  isShared: boolean;
  /** For the date of an answer. */
  clock: Clock;
  handle: Handler;
  refuse(fault: Fault): Reply;
  /** When bytes that are read now arrived, in ms of `performance.now()`; by default now. */
  arrivalMs?: () => number;
  /** Called with an error that closed a connection without an answer: a bug, or a body that failed while it was sent. */
  onError(error: unknown): void;
  /** Calls `sweep` once a second until the returned function is called. Tests pass their own, to move time. */
  everySecond?: (sweep: () => void) => () => void;
  /** The time that a drain measures. Tests inject their own. */
  time?: DrainTime;
  /** Where heads that come again are cached. */
  heads?: HeadCache;
  /** Speaks TLS with these, and plain HTTP without. */
  tls?: Credentials | undefined;
}

export interface DrainTime {
  /** Milliseconds of a clock that nobody sets. */
  now(): number;
  sleep(ms: number): Promise<void>;
}

const REAL_TIME: DrainTime = { now: () => performance.now(), sleep: Bun.sleep };

export interface HttpServer {
  readonly port: number;
  /** Uses a renewed certificate for new connections. The server must speak TLS. */
  setCredentials(credentials: Credentials): void;
  /** Stops accepting, and waits for requests under way, at most so long. */
  stop(limitMs: number): Promise<void>;
}

/** A client that is about to ask on an open connection must not find it closed. */
const QUIET_MS = 300;
const LINGER_MS_MAX = 3_000;

/** A browser that has used TLS here once never uses plain HTTP for this host again, for a year after its last visit. */
const HSTS_LINE = 'Strict-Transport-Security: max-age=31536000\r\n';

/**
 * HTTP/1.1 on Bun's sockets. A request that was read before costs one look-up, and an answer that is ready costs one
 * write: that is what makes it several times cheaper than `Bun.serve`. docs/decisions/0008 tells why it is here.
 */
export function serve(given: ServerOptions): HttpServer {
  const { hostname, port, isShared, clock, handle, refuse, onError, arrivalMs } = given;
  const { heads = new HeadCache(), everySecond = inRealTime, time = REAL_TIME, tls } = given;
  const connections = new Set<Connection>();
  const state = { second: 0, requests: 0, isClosing: false };
  const options = {
    handle,
    refuse,
    onError,
    clock,
    heads,
    turn: new IoBatch(arrivalMs),
    server: state,
    securityLine: tls ? HSTS_LINE : '',
  };
  const roomFor = connectionsMax();
  let onEmpty = () => {};
  const listener = Bun.listen<Connection>({
    hostname,
    port,
    ...{ reusePort: isShared }, // which it takes, though its types do not say so
    allowHalfOpen: true,
    ...(tls && { tls: listenerTls(tls) }),
    socket: {
      // With this handler `open` is called before the handshake, so that the limits of a connection hold during it.
      ...(tls && { handshake() {} }),
      open(socket) {
        socket.data = new Connection(socket, options);
        connections.add(socket.data);
        if (connections.size > roomFor) makeRoom(connections, socket.data);
      },
      data: (socket, chunk) => socket.data.receive(chunk),
      drain: (socket) => socket.data.drained(),
      end: (socket) => socket.data.ended(),
      error: (socket) => socket.terminate(),
      close(socket) {
        socket.data.closed();
        connections.delete(socket.data);
        if (connections.size === 0) onEmpty();
      },
    },
  });
  if (tls) setCredentials(listener, tls);
  const stopSweeping = everySecond(() => {
    state.second++;
    for (const connection of connections) connection.sweep();
  });

  return {
    port: listener.port,
    setCredentials: (credentials) => setCredentials(listener, credentials),
    async stop(limitMs) {
      state.isClosing = true;
      const start = time.now();
      const passed = () => time.now() - start;
      await quiet(state, Math.min(limitMs / 2, LINGER_MS_MAX), time);
      listener.stop();
      // Who was accepted just before has its request on the way.
      if (connections.size > 0) await quiet(state, Math.min((limitMs - passed()) / 2, LINGER_MS_MAX), time);
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      const limit = setTimeout(resolve, Math.max(0, limitMs - passed()));
      for (const connection of connections) connection.drain();
      if (connections.size > 0) await promise;
      clearTimeout(limit);
      stopSweeping();
      for (const connection of connections) connection.terminate();
    },
  };
}

function inRealTime(sweep: () => void): () => void {
  const timer = setInterval(sweep, 1_000);
  return () => clearInterval(timer);
}

/**
 * There are too many: the oldest on which nothing was asked goes, or the oldest with half a head, or the oldest that rests,
 * or else the newest. It is not waited for to close its end: whoever does this to us would not.
 */
function makeRoom(connections: ReadonlySet<Connection>, newest: Connection): void {
  const oldest = (state: ConnectionState) =>
    connections.values().find((one) => one.state === state && one !== newest);
  const goes = oldest('new') ?? oldest('head') ?? oldest('idle') ?? newest;
  goes.terminate();
}

/** Waits until nobody has asked for a moment. Meanwhile every answer is the last of its connection. */
async function quiet(state: ServerState, limitMs: number, time: DrainTime): Promise<void> {
  const end = time.now() + limitMs;
  let quietSince = time.now();
  let { requests } = state;
  while (time.now() < Math.min(end, quietSince + QUIET_MS)) {
    await time.sleep(20);
    if (state.requests !== requests) quietSince = time.now();
    requests = state.requests;
  }
}
