import { connect } from 'node:net';
import { sendRaw } from '../../../support/http/raw.ts';
import { lacksProc, residentMb } from '../../../support/monitoring/memory.ts';
import { count } from '../environment.ts';
import { row } from '../row.ts';

const TOKEN = 'a-token-of-the-operator';

/** The oversized requests by kind, and the status that refuses each. `size` is in KB. */
function giants(key: string, size: number): readonly [name: string, request: string, status: number][] {
  const text = 'x'.repeat(size * 1024);
  const get = (target: string, headers = '') =>
    `GET ${target} HTTP/1.1\r\nHost: test\r\nx-api-key: ${key}\r\n${headers}\r\n`;
  const codes = Array.from({ length: 1_500 }, (_, i) => `X${i}`).join(',');
  const many = Array.from({ length: size * 100 }, (_, i) => `h${i}: 1\r\n`).join('');
  const post = `POST /admin/ticks HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\n`;
  return [
    ['a header', get('/symbols', `x: ${text}\r\n`), 431],
    ['a name of a header', get('/symbols', `${text}: x\r\n`), 431],
    ['many headers', get('/symbols', many), 431],
    ['many headers in little room', get('/symbols', 'a: b\r\n'.repeat(500)), 431],
    ['a cookie', get('/symbols', `cookie: ${text}\r\n`), 431],
    ['a URL', get(`/symbols?x=${text}`), 431],
    ['a path', get(`/${text}`), 431],
    ['a URL of 9 KB', get(`/symbols?x=${'x'.repeat(9_000)}`), 414],
    ['a path of 9 KB', get(`/${'x'.repeat(9_000)}`), 414],
    ['a list of parameters of 9 KB', get(`/symbols?${'a=1&'.repeat(2_250)}`), 414],
    ['a list of symbols', get(`/rates/latest?symbols=${codes}`, 'Connection: close\r\n'), 400],
    ['a method', `${text} /symbols HTTP/1.1\r\nHost: test\r\n\r\n`, 431],
    ['a body', `${post}Content-Length: ${size * 1024 * 1024}\r\n\r\n${text}`, 413],
    ['a length', `${post}Content-Length: 99999999999999999999\r\n\r\n`, 400],
    ['a chunk', `${post}Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFF\r\n${text}`, 400],
  ];
}

export const giantInputs = row('giant-inputs', {
  fault: 'huge headers, URLs, parameter lists, symbol lists and bodies; endless heads and bodies',
  mustHold: 'refused (431, 414, 413, 400) and closed; memory stays flat',
  lacks: lacksProc,
  async run(environment, { rounds, sizeKb, endlessMb, growthMbMax }) {
    const settings = { ...(await environment.settings()), OPENPIT_ADMIN_TOKEN: TOKEN };
    const { key } = await environment.account(settings, 1_000_000_000);
    const { url, pid, exited } = await environment.program(settings);
    const all = giants(key, sizeKb);
    const run = async () => {
      for (const [name, request, status] of all) {
        const reply = await Promise.race([sendRaw(url, request), Bun.sleep(5_000).then(() => 'still open')]);
        // The rest of what was sent may reset the connection before the refusal is read.
        const refused = reply === '' || reply.startsWith(`HTTP/1.1 ${status} `);
        environment.holds(refused, `${name}: ${reply.slice(0, 40)}`);
      }
    };
    for (let warm = 0; warm < rounds / 10; warm++) await run(); // until the heap has its usual size
    const beforeMb = residentMb(pid);
    for (let round = 0; round < rounds; round++) await run();
    let endless = 0;
    for (const [first, piece] of ENDLESS) endless += await pour(url, first, piece, endlessMb);
    const afterMb = residentMb(pid);
    const growthMb = afterMb - beforeMb;
    environment.holds(growthMb < growthMbMax, `memory grew from ${beforeMb} to ${afterMb} MB`);
    environment.holds(!(await Promise.race([exited, Bun.sleep(0)])), 'the program ended');
    environment.holds((await fetch(`${url}/health`)).status === 200, 'it is not healthy');
    return {
      tried: `${count(rounds * all.length)} huge requests of ${all.length} kinds, most of ${count(sizeKb)} KB; ${ENDLESS.length} endless requests, ${Math.round(endless)} MB of which were accepted`,
      figures: `all refused and closed; memory ${beforeMb} MB before, ${afterMb} MB after`,
    };
  },
});

const CHUNK = `10000\r\n${'x'.repeat(65_536)}\r\n`;
const POST = 'POST /usage HTTP/1.1\r\nHost: test\r\n';
/** Requests without an end. */
const ENDLESS: readonly [first: string, piece: string][] = [
  ['GET /', 'x'.repeat(65_536)],
  ['GET /usage HTTP/1.1\r\n', 'x: y\r\n'.repeat(10_000)],
  [`${POST}Transfer-Encoding: chunked\r\n\r\n`, CHUNK],
  [
    `POST /admin/ticks HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\nTransfer-Encoding: chunked\r\n\r\n`,
    CHUNK,
  ],
];

/** Sends until the server closes the connection or has accepted `mbMax` MB. Returns how many MB it accepted. */
async function pour(url: string, first: string, piece: string, mbMax: number): Promise<number> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let isClosed = false;
  let drained = () => {};
  socket.on('error', () => {});
  socket.on('data', () => {});
  socket.on('drain', () => drained());
  socket.on('close', () => {
    isClosed = true;
    drained();
  });
  socket.write(first);
  let sent = 0;
  while (!isClosed && sent < mbMax * 1024 * 1024) {
    sent += piece.length;
    if (!socket.write(piece)) {
      await new Promise<void>((resolve) => {
        drained = resolve;
      });
    }
  }
  socket.destroy();
  return sent / 1024 / 1024;
}
