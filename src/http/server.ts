import { Connection } from './connection/connection.ts';
import { IoBatch } from './connection/io-batch.ts';
import type { ConnectionState } from './connection/limits.ts';
import { REAL_TIME, untilQuiet } from './drain.ts';
import { connectionsMax } from './fd-limit.ts';
import { headerLines } from './message/serialize.ts';
import { HeaderCache } from './parse/header-cache.ts';
import { HSTS_HEADERS, type HttpServer, type ServerOptions } from './server-options.ts';
import { listenerTls, setCredentials } from './tls/secure-context.ts';

/**
 * HTTP/1.1 on Bun's sockets. A repeated request head costs one cache lookup and a raw response one write, which makes it
 * several times cheaper than `Bun.serve`. README.md explains its parts, docs/decisions/0008 why it exists.
 */
export function serve(options: ServerOptions): HttpServer {
  const { hostname, port, isShared, clock, handle, refuse, onError, arrivalMs, tls } = options;
  const { headers = new HeaderCache(), everySecond = everyRealSecond, time = REAL_TIME } = options;
  const connections = new Set<Connection>();
  const state = { second: 0, requests: 0, isClosing: false };
  const connectionOptions = {
    handle,
    refuse,
    onError,
    clock,
    headers,
    batch: new IoBatch(onError, arrivalMs),
    server: state,
    securityLines: tls ? headerLines(HSTS_HEADERS) : '',
  };
  const limit = connectionsMax();
  let onEmpty = () => {};
  const listener = Bun.listen<Connection>({
    hostname,
    port,
    ...{ reusePort: isShared }, // supported, but missing in the types
    allowHalfOpen: true,
    ...(tls && { tls: listenerTls(tls) }),
    socket: {
      // With this handler, Bun calls `open` before the handshake, so that the time limits apply to it.
      ...(tls && { handshake() {} }),
      open(socket) {
        socket.data = new Connection(socket, connectionOptions);
        connections.add(socket.data);
        if (connections.size > limit) evictOne(connections, socket.data);
      },
      data: (socket, chunk) => socket.data.receive(chunk),
      drain: (socket) => socket.data.drained(),
      end: (socket) => socket.data.ended(),
      error(socket, error) {
        if (!isNetworkError(error)) onError(error);
        socket.terminate();
      },
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
      const remainingMs = () => Math.max(0, limitMs - (time.now() - start));
      await untilQuiet(state, limitMs / 2, time);
      listener.stop();
      // The request of a client that was accepted just before is still on its way.
      if (connections.size > 0) await untilQuiet(state, remainingMs() / 2, time);
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      const timeout = setTimeout(resolve, remainingMs());
      for (const connection of connections) connection.drain();
      if (connections.size > 0) await promise;
      clearTimeout(timeout);
      stopSweeping();
      for (const connection of connections) connection.terminate();
    },
  };
}

function everyRealSecond(sweep: () => void): () => void {
  const timer = setInterval(sweep, 1_000);
  return () => clearInterval(timer);
}

/**
 * Closes the oldest connection without a request, or the oldest with an incomplete head, or the oldest idle one, or the one
 * that has waited for its client for the longest time, or else the newest. It does not wait for the client to close its
 * side: an attacker would not.
 */
function evictOne(connections: ReadonlySet<Connection>, newest: Connection): void {
  const oldest = (state: ConnectionState) =>
    connections.values().find((one) => one.state === state && one !== newest);
  const evicted = oldest('new') ?? oldest('head') ?? oldest('idle') ?? longestWaiting(connections) ?? newest;
  evicted.terminate();
}

/** A client that is reading or sending at a normal rate does not wait for so long. */
const WAITING_SECONDS_MIN = 2;

/** The connection whose client has read nothing of its response, or has not completed its body, for the longest time. */
function longestWaiting(connections: ReadonlySet<Connection>): Connection | undefined {
  let found: Connection | undefined;
  for (const one of connections) {
    if (one.state === 'handling' || one.seconds < WAITING_SECONDS_MIN) continue;
    if (!found || one.seconds > found.seconds) found = one;
  }
  return found;
}

/** Errors of the peer or the network, such as ECONNRESET or a failed handshake. Everything else is a bug. */
function isNetworkError(error: Error): boolean {
  const code = 'code' in error ? String(error.code) : '';
  return /^E(?!RR_)[A-Z0-9]+$/.test(code) || code.startsWith('ERR_SSL');
}
