import type { Api } from './api.ts';

export interface Listener {
  /** The address to reach it by from this machine. */
  readonly url: string;
  /** Stops accepting, and waits for requests under way, at most so long. */
  stop(drainMs: number): Promise<void>;
}

/** The interface takes no bodies; one that is larger than this is refused by the server itself. */
const BODY_BYTES_MAX = 1024 * 1024;

/** A connection that is silent for so long is closed, half-sent requests included. */
const IDLE_SECONDS = 15;

export function listen(api: Api, host: string, port: number): Listener {
  const server = Bun.serve({
    hostname: host,
    port,
    development: false,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: BODY_BYTES_MAX,
    fetch: (request, self) => api.handle(request, () => self.requestIP(request)?.address ?? ''),
  });
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return {
    url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${server.port}`,
    async stop(drainMs) {
      const limit = setTimeout(() => server.stop(true), drainMs);
      await server.stop();
      clearTimeout(limit);
    },
  };
}
