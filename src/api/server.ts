import { serve } from '../http/server.ts';
import type { Api } from './api.ts';

export interface Listener {
  /** The address to reach it by from this machine. */
  readonly url: string;
  /** Stops accepting, and waits for requests under way, at most so long. */
  stop(drainMs: number): Promise<void>;
}

/** Several processes of one machine may listen on the same port; the system shares connections out among them. */
export function listen(api: Api, hostname: string, port: number, isShared = false): Listener {
  const server = serve({
    hostname,
    port,
    isShared,
    clock: api.clock,
    handle: (request, peer) => api.handle(request, peer),
    refuse: (fault) => api.refuse(fault),
  });
  const reachable = hostname === '0.0.0.0' || hostname === '::' ? '127.0.0.1' : hostname;
  return {
    url: `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${server.port}`,
    stop: (drainMs) => server.stop(drainMs),
  };
}
