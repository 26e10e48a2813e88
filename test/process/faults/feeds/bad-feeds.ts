import { createServer, type Server, type Socket } from 'node:net';
import { load } from '../../../support/load.ts';
import { openpit } from '../../../support/program.ts';
import { count, type Environment, type Settings } from '../environment.ts';
import { row } from '../row.ts';

/** Daily gold prices in the format of the LBMA's file. */
const good = (days: number) =>
  JSON.stringify(
    Array.from({ length: days }, (_, i) => ({
      d: new Date(Date.UTC(2026, 5, 1 + i)).toISOString().slice(0, 10),
      v: [4_000 + i, 3_000, 3_500],
    })),
  );
const GOOD = good(60);

const head = (length: number | undefined, type = 'application/json', status = '200 OK') =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\nconnection: close\r\n${length === undefined ? '' : `content-length: ${length}\r\n`}\r\n`;

/** Faulty responses of a provider, byte by byte. */
const RESPONSES: Readonly<Record<string, (socket: Socket) => void>> = {
  dead: (socket) => socket.resetAndDestroy(),
  'gone (404)': (socket) => socket.end(`${head(4, 'text/plain', '404 Not Found')}gone`),
  'down (500)': (socket) => socket.end(`${head(4, 'text/plain', '500 Oops')}oops`),
  'garbage bytes': (socket) =>
    socket.end(Buffer.concat([Buffer.from(head(4096)), crypto.getRandomValues(Buffer.alloc(4096))])),
  'not HTTP': (socket) => socket.end(crypto.getRandomValues(Buffer.alloc(4096))),
  HTML: (socket) => socket.end(`${head(undefined, 'text/html')}<!doctype html><title>Maintenance</title>`),
  'HTML as JSON': (socket) => socket.end(`${head(undefined)}<!doctype html><title>Maintenance</title>`),
  truncated: (socket) => socket.end(head(GOOD.length) + GOOD.slice(0, GOOD.length / 2)),
  'truncated JSON': (socket) => socket.end(head(undefined) + GOOD.slice(0, GOOD.length / 2)),
  'far fewer prices': (socket) => socket.end(head(undefined) + good(2)),
  'other unit': (socket) => socket.end(head(undefined) + GOOD.replaceAll(/\[4\d\d\d/g, '$&000')),
  empty: (socket) => socket.end(head(0)),
  'a redirect to itself': (socket) =>
    socket.end('HTTP/1.1 302 Found\r\nlocation: /json/gold_pm.json\r\ncontent-length: 0\r\n\r\n'),
  endless: (socket) => {
    socket.write(`${head(undefined)}[`);
    const pour = () => {
      while (!socket.destroyed && socket.write('{"d":"2026-06-01","v":[4000,1,1]},'.repeat(2_000)));
    };
    socket.on('drain', pour);
    pour();
  },
  slow: (socket) => {
    socket.write(head(GOOD.length));
    let at = 0;
    const drip = setInterval(() => socket.write(GOOD[at++]!), 500);
    socket.on('close', () => clearInterval(drip));
  },
};

export const badFeeds = row('bad-feeds', {
  fault: 'a provider is dead, or its response is garbage, HTML, truncated, endless or slow',
  mustHold: 'no client gets a 5xx; data unchanged',
  async run(environment, { responses: wanted, pauseMs }) {
    const settings = await environment.settings();
    const { key } = await environment.account(settings, 1_000_000_000);
    const provider = await Provider.open(environment);
    provider.respond = (socket) => socket.end(head(undefined) + GOOD);
    await runFeed(settings, provider.url);
    const program = await environment.program(settings);
    const question = `${program.url}/rates/time-series?symbols=XAU&startDate=2026-06-01&endDate=2026-06-30`;
    const answer = async () => (await fetch(question, { headers: { 'x-api-key': key } })).text();
    const before = await answer();
    environment.holds(before.includes('4029'), `the good run brought: ${before.slice(0, 200)}`);
    const stop = new AbortController();
    const loading = load({ url: question, key, connections: 2, until: stop.signal, pauseMs });
    const responses = Object.entries(RESPONSES).filter(
      ([name]) => wanted.includes('all') || wanted.includes(name),
    );
    const outcomes = new Map<string, number>();
    for (const [name, respond] of responses) {
      provider.respond = respond;
      const { status, message } = await runFeed(settings, provider.url);
      outcomes.set(status, (outcomes.get(status) ?? 0) + 1);
      environment.holds(status !== 'ok' && status !== '', `${name}: the run is "${status}" ${message}`);
      environment.holds((await answer()) === before, `${name}: the data changed`);
    }
    stop.abort();
    const { statuses, broken } = await loading;
    const asked = statuses.get(200) ?? 0;
    environment.holds(
      broken === 0 && statuses.size === 1,
      `answers: ${JSON.stringify([...statuses])}, broken ${broken}`,
    );
    return {
      tried: `${responses.length} provider faults (${responses.map(([name]) => name).join(', ')}) while ${count(asked)} requests were answered`,
      figures: `all 200, the same data after each fault; runs: ${[...outcomes].map(([status, n]) => `${n} ${status}`).join(', ')}`,
    };
  },
});

async function runFeed(settings: Settings, url: string): Promise<{ status: string; message: string }> {
  const { stdout, stderr } = await openpit(['feed', 'run', 'lbma', '--base-url', url, '--json'], settings);
  try {
    return JSON.parse(stdout);
  } catch {
    return { status: '', message: stdout + stderr };
  }
}

/** A local provider that sends exactly the given bytes. */
class Provider {
  readonly url: string;
  respond: (socket: Socket) => void = () => {};

  private constructor(port: number) {
    this.url = `http://127.0.0.1:${port}`;
  }

  static async open(environment: Environment): Promise<Provider> {
    const sockets = new Set<Socket>();
    let provider: Provider | undefined;
    const server: Server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('data', () => provider?.respond(socket));
    });
    environment.atEnd(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    provider = new Provider((server.address() as { port: number }).port);
    return provider;
  }
}
