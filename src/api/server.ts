import { serveWithBun } from '../http/bun-server.ts';
import { serve } from '../http/server.ts';
import type { HttpServer, ServerOptions } from '../http/server-options.ts';
import type { Credentials } from '../http/tls/credentials.ts';
import { codeOf } from '../runtime/log/log.ts';
import type { Api } from './api.ts';

export interface ListenOptions {
  hostname: string;
  port: number;
  /** Whether other processes of this machine listen on the same port. The system distributes connections among them. */
  isShared?: boolean;
  /** Serves HTTPS with these; plain HTTP without. */
  tls?: Credentials | undefined;
  /** The HTTP server: ours on Bun's sockets, or `Bun.serve`. */
  http?: 'openpit' | 'bun';
}

export interface Listener {
  /** The address to reach it by from this machine. */
  readonly url: string;
  /** Uses a renewed certificate for new connections. */
  setCredentials(credentials: Credentials): void;
  /** Stops accepting connections, and waits at most this long for requests in progress. */
  stop(drainMs: number): Promise<void>;
}

export function listen(api: Api, { hostname, port, isShared = false, tls, http }: ListenOptions): Listener {
  const server = serveOrSayWhy(http === 'bun' ? serveWithBun : serve, {
    hostname,
    port,
    isShared,
    tls,
    clock: api.clock,
    handle: (request, peer) => api.handle(request, peer),
    refuse: (fault) => api.refuse(fault),
    onError: (error) => api.connectionFailed(error),
    arrivalMs: () => api.arrivalMs(),
    headers: api.headers(),
  });
  const reachable = hostname === '0.0.0.0' || hostname === '::' ? '127.0.0.1' : hostname;
  return {
    url: `${tls ? 'https' : 'http'}://${reachable.includes(':') ? `[${reachable}]` : reachable}:${server.port}`,
    setCredentials: (credentials) => server.setCredentials(credentials),
    stop: (drainMs) => server.stop(drainMs),
  };
}

/**
 * Throws if any program listens on the port. Processes share theirs with every program that shares it too, so this listens
 * once without sharing. Returns the port, which the system chooses for 0.
 */
export function requireFreePort(hostname: string, port: number): number {
  try {
    const probe = Bun.listen({ hostname, port, socket: { data() {} } });
    probe.stop(true);
    return probe.port;
  } catch (cause) {
    throw cannotListen(cause, hostname, port);
  }
}

function serveOrSayWhy(serve: (options: ServerOptions) => HttpServer, options: ServerOptions): HttpServer {
  try {
    return serve(options);
  } catch (cause) {
    throw cannotListen(cause, options.hostname, options.port);
  }
}

/** The system's message is "Failed to listen at 127.0.0.1", with a code for the reason. */
function cannotListen(cause: unknown, hostname: string, port: number): Error {
  const reason = WHY_NOT[codeOf(cause)]?.(port);
  return new Error(reason ?? `cannot listen on the address ${hostname}; set OPENPIT_HOST`, { cause });
}

const WHY_NOT: Record<string, (port: number) => string> = {
  EADDRINUSE: (port) => `another program listens on port ${port}; stop it, or set OPENPIT_PORT`,
  EACCES: (port) => `this user may not listen on port ${port}; set OPENPIT_PORT to one above 1023`,
};
