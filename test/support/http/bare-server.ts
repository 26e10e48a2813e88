import { reply } from '../../../src/http/message/reply.ts';
import { serve } from '../../../src/http/server.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

/** More than the system buffers for a client that does not read. */
const LARGE = new Uint8Array(20_000_000);

/**
 * The HTTP server alone, as a process. Prints its port, and responds with the CPU time it has used, in ms; at `/large`, with a
 * long body.
 */
const { port } = serve({
  hostname: '127.0.0.1',
  port: 0,
  isShared: false,
  clock: systemClock,
  handle: ({ url }) => {
    const { user, system } = process.cpuUsage();
    return reply(url === '/large' ? LARGE : String((user + system) / 1000), {});
  },
  onError: console.error,
  refuse: ({ status }) => reply(null, {}, status),
});
console.log(port);
