/** Sends recorded requests at fixed times over a few connections, and writes the duration of each to stdout, as float64. */
import { recordedHeads } from './recorded.ts';

const { url, file, perSecond, seconds } = JSON.parse(process.argv[2]!) as {
  url: string;
  file: string;
  perSecond: number;
  seconds: number;
};
const CONNECTIONS = 64;
const { hostname, port } = new URL(url);
const heads = await recordedHeads(file);

const times: number[] = [];
const refused: string[] = [];
/** When the requests under way on each connection were due, first in, first out. */
const due: number[][] = [];
const sockets = await Promise.all(
  Array.from({ length: CONNECTIONS }, (_, i) => {
    due.push([]);
    let rest = '';
    return Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        data(_, chunk) {
          rest += chunk.toString('latin1');
          for (;;) {
            const head = rest.indexOf('\r\n\r\n');
            if (head < 0) return;
            const end = head + 4 + Number(/content-length: (\d+)/i.exec(rest)![1]);
            if (rest.length < end) return;
            if (!rest.startsWith('HTTP/1.1 200')) refused.push(rest.slice(0, end).replaceAll('\r\n', ' '));
            times.push(performance.now() - due[i]!.shift()!);
            rest = rest.slice(end);
          }
        },
      },
    });
  }),
);

const start = performance.now();
const total = perSecond * seconds;
for (let sent = 0; sent < total; ) {
  const until = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond));
  for (; sent < until; sent++) {
    const i = sent % CONNECTIONS;
    due[i]!.push(start + (sent / perSecond) * 1000);
    sockets[i]!.write(heads[sent % heads.length]!);
  }
  await Bun.sleep(0.2);
}
while (times.length < total && performance.now() - start < (seconds + 10) * 1000) await Bun.sleep(5);
for (const socket of sockets) socket.end();
if (refused.length > 0) console.error(`${refused.length} were refused: ${refused[0]}`);
await Bun.write(Bun.stdout, new Float64Array(times));
process.exit(times.length === total && refused.length === 0 ? 0 : 1);
