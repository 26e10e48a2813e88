/** The process of a crowd. It prints how many connections it has, and at the end how they were closed. */
import type { CrowdOptions } from './crowd.ts';

const { port, connections, first, piece, everyMs, untilMs }: CrowdOptions = JSON.parse(process.argv[2]!);

/** Few enough at a time that they do not overflow the server's backlog of connections. */
const AT_A_TIME = 100;
const PARTS = 20;

const open = new Map<Bun.Socket, number>();
let closed = 0;
let slowestCloseMs = 0;
let isOpening = true;
const done = Promise.withResolvers<void>();

/** The server has ended or reset the connection: which of the three events fires varies. */
function gone(socket: Bun.Socket): void {
  const since = open.get(socket);
  if (since === undefined) return;
  open.delete(socket);
  closed++;
  slowestCloseMs = Math.max(slowestCloseMs, performance.now() - since);
  if (open.size === 0 && !isOpening) done.resolve();
}

async function connect(): Promise<void> {
  await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      open(socket) {
        open.set(socket, performance.now());
        if (first !== '') socket.write(first);
      },
      data() {},
      error: gone,
      end: gone,
      close: gone,
    },
  }).catch(() => {});
}

for (let i = 0; i < connections; i += AT_A_TIME) {
  await Promise.all(Array.from({ length: Math.min(AT_A_TIME, connections - i) }, connect));
}
isOpening = false;
const opened = open.size + closed;
console.log(JSON.stringify({ opened }));
// In portions: all at once would be a different kind of load.
let turn = 0;
const dripping = setInterval(() => {
  turn = (turn + 1) % PARTS;
  if (piece === '') return;
  let place = 0;
  for (const socket of open.keys()) if (place++ % PARTS === turn) socket.write(piece);
}, everyMs / PARTS);
if (open.size === 0) done.resolve();
await Promise.race([done.promise, Bun.sleep(untilMs)]);
clearInterval(dripping);
console.log(JSON.stringify({ opened, closed, slowestCloseMs: Math.round(slowestCloseMs) }));
process.exit();
