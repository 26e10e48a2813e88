import { Connection, type Handle, type ServerState } from './connection.ts';
import { connectionsMax } from './connections-max.ts';
import type { Fault } from './head.ts';
import { KnownHeads } from './known-heads.ts';
import type { Reply } from './reply.ts';

export interface ServerOptions {
  hostname: string;
  port: number;
  /** Whether other processes of this machine may listen on the same port. */
  isShared: boolean;
  handle: Handle;
  refuse(fault: Fault): Reply;
}

export interface HttpServer {
  readonly port: number;
  /** Stops accepting, and waits for requests under way, at most so long. */
  stop(limitMs: number): Promise<void>;
}

/** A client that is about to ask on an open connection must not find it closed. */
const QUIET_MS = 300;
const LINGER_MS_MAX = 3_000;

/**
 * HTTP/1.1 on Bun's sockets. A request that was read before costs one look-up, and an answer that is ready costs one
 * write: that is what makes it several times cheaper than `Bun.serve`. docs/decisions/0008 tells why it is here.
 */
export function serve({ hostname, port, isShared, handle, refuse }: ServerOptions): HttpServer {
  const connections = new Set<Connection>();
  const max = connectionsMax();
  const state = { second: 0, requests: 0, isClosing: false };
  const options = { handle, refuse, heads: new KnownHeads(), server: state };
  let onEmpty = () => {};
  const listener = Bun.listen<Connection>({
    hostname,
    port,
    ...{ reusePort: isShared }, // which it takes, though its types do not say so
    allowHalfOpen: true,
    socket: {
      open(socket) {
        socket.data = new Connection(socket, options);
        connections.add(socket.data);
        if (connections.size > max) makeRoom(connections, socket.data);
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
  const sweeping = setInterval(() => {
    state.second++;
    for (const connection of connections) connection.sweep();
  }, 1_000);

  return {
    port: listener.port,
    async stop(limitMs) {
      state.isClosing = true;
      await quiet(state, Math.min(limitMs, LINGER_MS_MAX));
      listener.stop();
      const { promise, resolve } = Promise.withResolvers<void>();
      onEmpty = resolve;
      const limit = setTimeout(resolve, limitMs);
      for (const connection of connections) connection.drain();
      if (connections.size > 0) await promise;
      clearTimeout(limit);
      clearInterval(sweeping);
      for (const connection of connections) connection.terminate();
    },
  };
}

/** Looked at, from the oldest on, for one that can be let go of. */
const CANDIDATES_MAX = 100;

/** Makes room for the newest: the oldest goes on which nothing is asked, so that idle ones shut nobody out. If all are busy, the newest goes. */
function makeRoom(connections: Set<Connection>, newest: Connection): void {
  let going = newest;
  let looked = 0;
  for (const connection of connections) {
    if (connection.isResting) going = connection;
    if (going !== newest || ++looked === CANDIDATES_MAX) break;
  }
  connections.delete(going);
  going.terminate();
}

/** Waits until nobody has asked for a moment. Meanwhile every answer is the last of its connection. */
async function quiet(state: ServerState, limitMs: number): Promise<void> {
  const end = performance.now() + limitMs;
  let quietSince = performance.now();
  let { requests } = state;
  while (performance.now() < Math.min(end, quietSince + QUIET_MS)) {
    await Bun.sleep(20);
    if (state.requests !== requests) quietSince = performance.now();
    requests = state.requests;
  }
}
