import type { Api } from './api.ts';

export interface Listener {
  /** The address to reach it by from this machine. */
  readonly url: string;
  /** Stops accepting, and waits for requests under way, at most so long. */
  stop(drainMs: number): Promise<void>;
}

/** The interface takes no bodies; one that is larger than this is refused by the server itself. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * A connection that is silent for so long is closed. The time for a request to arrive is no longer, however slowly it
 * drips: bytes of a head or a body do not begin it anew. Bun's timers go by 4 s, so 12 closes after 8 to 12 s.
 */
const IDLE_SECONDS = 12;

/** A client that is about to ask on an open connection must not find it closed. */
const QUIET_MS = 300;
const LINGER_MS_MAX = 3_000;

/** Several processes of one machine may listen on the same port; the system shares connections out among them. */
export function listen(api: Api, host: string, port: number, shared = false): Listener {
  const server = Bun.serve({
    hostname: host,
    port,
    reusePort: shared,
    development: false,
    idleTimeout: IDLE_SECONDS,
    maxRequestBodySize: BODY_BYTES_MAX,
    fetch: (request, self) => api.handle(request, () => self.requestIP(request)?.address ?? ''),
  });
  const reachable = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return {
    url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${server.port}`,
    async stop(drainMs) {
      await quiet(api, Math.min(drainMs, LINGER_MS_MAX));
      const limit = setTimeout(() => server.stop(true), drainMs);
      await server.stop();
      clearTimeout(limit);
    },
  };
}

/**
 * Waits until nobody has asked for a moment. Meanwhile every answer says `Connection: close` and /health says 503, so clients
 * and load balancers go elsewhere by themselves.
 */
async function quiet(api: Api, limitMs: number): Promise<void> {
  const start = performance.now();
  const last = () => Math.max(start, api.lastRequestAt);
  while (performance.now() < Math.min(start + limitMs, last() + QUIET_MS)) await Bun.sleep(20);
}
