import { reply } from '../../src/http/message/reply.ts';
import { serve } from '../../src/http/server.ts';
import { systemClock } from '../../src/runtime/clock.ts';

/** The HTTP server by itself, as a process. Tells its port, and answers with the processor time that it has used, in ms. */
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
