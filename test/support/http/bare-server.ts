import { reply } from '../../../src/http/message/reply.ts';
import { serve } from '../../../src/http/server.ts';
import { systemClock } from '../../../src/runtime/clock.ts';

/** The HTTP server alone, as a process. Prints its port, and responds with the CPU time it has used, in ms. */
const { port } = serve({
  hostname: '127.0.0.1',
  port: 0,
  isShared: false,
  clock: systemClock,
  handle: () => {
    const { user, system } = process.cpuUsage();
    return reply(String((user + system) / 1000), {});
  },
  onError: console.error,
  refuse: ({ status }) => reply(null, {}, status),
});
console.log(port);
