import { Crowd, type CrowdReport } from '../../../support/http/crowd.ts';
import { latencyOf } from '../../../support/monitoring/latency.ts';
import { count } from '../environment.ts';
import { row } from '../row.ts';

const TOKEN = 'a-token-of-the-operator';
const HEAD = 'GET /symbols HTTP/1.1\r\nHost: test\r\n';
const POST = `POST /admin/ticks HTTP/1.1\r\nHost: test\r\nAuthorization: Bearer ${TOKEN}\r\n`;

/** What is sent first, and what drips. */
const KINDS: Readonly<Record<string, readonly [first: string, piece: string]>> = {
  'nothing at all': ['', ''],
  'a request line that drips': ['GET /', 'a'],
  'a header that drips': [`${HEAD}x: `, 'a'],
  'one header after the other': [HEAD, 'x: y\r\n'],
  'a head that stops': [HEAD, ''],
  'a body that drips': [`${POST}Content-Length: 100000\r\n\r\n[`, ' '],
  'a body in chunks that drips': [`${POST}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n'],
  'a body that nobody asked for': [`${HEAD}Content-Length: 100000\r\n\r\n`, ' '],
};

export const slowClients = row('slow-clients', {
  fault: 'slow clients: incomplete requests whose heads and bodies arrive at a byte per second',
  mustHold: 'connections closed within 15 s; the p99 of other clients at most doubles',
  async run(environment, { connections, measureMs }) {
    const settings = { ...(await environment.settings()), OPENPIT_ADMIN_TOKEN: TOKEN };
    const { key } = await environment.account(settings, 1_000_000_000);
    const { url } = await environment.program(settings);
    const measure = () => latencyOf(`${url}/symbols`, key, { connections: 8, ms: measureMs });
    await measure(); // warm
    const before = await measure();

    const kinds = Object.entries(KINDS);
    const each = Math.ceil(connections / kinds.length);
    const crowds = kinds.map(([, [first, piece]]) => {
      const port = Number(new URL(url).port);
      const crowd = new Crowd({ port, connections: each, first, piece, everyMs: 1_000, untilMs: 30_000 });
      environment.atEnd(() => crowd.leave());
      return crowd;
    });
    await Promise.all(crowds.map((crowd) => crowd.opened()));
    const meanwhile = await measure();
    const reports = await Promise.all(crowds.map((crowd) => crowd.report()));

    for (const [i, { opened, closed, slowestCloseMs }] of reports.entries()) {
      const [name] = kinds[i]!;
      environment.holds(opened === each, `${name}: ${opened} of ${each} could connect`);
      environment.holds(closed === opened, `${name}: ${opened - closed} were still open after 30 s`);
      environment.holds(slowestCloseMs < 15_000, `${name}: held for ${slowestCloseMs} ms`);
    }
    environment.holds(meanwhile.failed === 0, `${meanwhile.failed} normal requests failed`);
    environment.holdsLatency(Math.max(10, 2 * before.p99), meanwhile.p99, 'one request in a hundred');
    return {
      tried: `${count(each * kinds.length)} slow clients of ${kinds.length} kinds at once`,
      figures: `the longest connection lasted ${seconds(reports)} s; p99 of ${count(meanwhile.answers)} normal requests ${ms(before.p99)} without them, ${ms(meanwhile.p99)} with them`,
    };
  },
});

function seconds(reports: readonly CrowdReport[]): string {
  return (Math.max(...reports.map(({ slowestCloseMs }) => slowestCloseMs)) / 1000).toFixed(1);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
