/** A small load generator over raw sockets, for machines without wrk. Prints the number of responses. */
import type { Request } from './load.ts';
import { recordedHeads } from './recorded.ts';

const { url, request, seconds, expected, connections } = JSON.parse(process.argv[2]!) as {
  url: string;
  request: Request;
  seconds: number;
  expected: number;
  connections: number;
};
const { hostname, port, host } = new URL(url);
const headers = Object.entries({ Host: host, ...request.headers }).map(
  ([name, value]) => `${name}: ${value}\r\n`,
);
const run = Math.random().toString(36).slice(2);
let sent = 0;
const recorded = request.recorded ? await recordedHeads(request.recorded.file) : undefined;
if (recorded) sent = Math.floor(Math.random() * recorded.length);
const next = () => {
  if (recorded) return recorded[++sent % recorded.length]!;
  const path = request.paths[++sent % request.paths.length]!.replace('{n}', `${run}${sent}`).replace(
    '{five}',
    () => five(request.codes ?? []),
  );
  return `GET ${path} HTTP/1.1\r\n${headers.join('')}\r\n`;
};
const end = performance.now() + seconds * 1000;
let answers = 0;

function client(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let pending = '';
  void Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      open: (socket) => void socket.write(next()),
      data(socket, chunk) {
        pending += chunk.toString('latin1');
        const head = pending.indexOf('\r\n\r\n');
        if (head < 0) return;
        const length = Number(/content-length: (\d+)/i.exec(pending)?.[1] ?? 0);
        if (pending.length < head + 4 + length) return;
        if (!pending.startsWith(`HTTP/1.1 ${expected}`)) return reject(new Error(pending.slice(0, 200)));
        pending = pending.slice(head + 4 + length);
        answers++;
        if (performance.now() < end) socket.write(next());
        else {
          socket.end();
          resolve();
        }
      },
      error: (_, error) => reject(error),
    },
  });
  return promise;
}

await Promise.all(Array.from({ length: connections }, client));
console.log(answers);

function five(codes: readonly string[]): string {
  const chosen = new Set<string>();
  while (chosen.size < Math.min(5, codes.length)) {
    chosen.add(codes[Math.floor(Math.random() * codes.length)]!);
  }
  return [...chosen].join(',');
}
