import { expectOk } from './lib/check.ts';
import type { Request } from './lib/load.ts';

/** One kind of request. The first path is the one whose answer is checked, and sent by nginx and the bare handler. */
export interface Scenario {
  name: string;
  paths: readonly string[];
  headers?: Record<string, string>;
  status: number;
  /** At least this share of nginx, and of the bare handler; undefined where nothing is promised. */
  ofNginx?: number;
  ofBare?: number;
  /** At least this many times as fast as Fastify on SQLite, which serves this request, too. */
  timesFastify?: number;
}

const FIVE = 'XAU,XAG,PL,PA,HG-SPOT';
const RANGE = 'startDate=2024-05-01&endDate=2024-05-31';

export const SCENARIOS: readonly Scenario[] = [
  { name: 'latest × 1', paths: ['/rates/latest?symbols=XAU'], status: 200 },
  {
    name: 'latest × 5',
    paths: [`/rates/latest?symbols=${FIVE}`],
    status: 200,
    ofNginx: 0.6,
    ofBare: 0.85,
    timesFastify: 6,
  },
  { name: 'latest × 50', paths: ['/rates/latest?symbols=SYMBOLS50'], status: 200 },
  {
    name: 'historical × 5',
    paths: [`/rates/historical?symbols=${FIVE}&date=2024-05-15`],
    status: 200,
    ofNginx: 0.55,
  },
  { name: 'time-series 30 × 1', paths: [`/rates/time-series?symbols=XAU&${RANGE}`], status: 200 },
  {
    name: 'time-series 30 × 5',
    paths: [`/rates/time-series?symbols=${FIVE}&${RANGE}`],
    status: 200,
    ofNginx: 0.6,
    timesFastify: 25,
  },
  {
    name: 'time-series 30 × 5, never requested before',
    paths: monthsOf(FIVE),
    status: 200,
    ofNginx: 0.25,
  },
  {
    name: 'time-series 30 × 5, never requested before, random symbols',
    paths: monthsOf('{five}'),
    status: 200,
  },
  { name: 'latest × 5, never requested before', paths: [`/rates/latest?symbols=${FIVE}&_={n}`], status: 200 },
  {
    name: 'fluctuation × 5',
    paths: [`/rates/fluctuation?symbols=${FIVE}&${RANGE}`],
    status: 200,
    ofNginx: 0.55,
  },
  { name: 'symbols', paths: ['/symbols'], status: 200 },
  { name: 'usage', paths: ['/usage'], status: 200 },
  {
    name: 'a 304',
    paths: [`/rates/historical?symbols=${FIVE}&date=2024-05-15`],
    headers: { 'if-none-match': '*' },
    status: 304,
  },
  {
    name: 'a mix: 6 latest, 2 historical, 1 time-series, 1 never requested before',
    paths: [
      ...['XAU', 'XAG,PL', FIVE, 'PA', 'XAU,XAG', 'HG-SPOT'].map((codes) => `/rates/latest?symbols=${codes}`),
      `/rates/historical?symbols=XAU&date=2024-05-15`,
      `/rates/historical?symbols=${FIVE}&date=2024-05-14`,
      `/rates/time-series?symbols=XAU&${RANGE}`,
      `/rates/fluctuation?symbols=${FIVE}&${RANGE}&_={n}`,
    ],
    status: 200,
  },
  { name: 'a refused request (404)', paths: ['/rates/latest?symbols=NOPE'], status: 404 },
];

/** Thirty days from many days of ten years. */
function monthsOf(codes: string): string[] {
  const first = Date.UTC(2015, 0, 1) / 86_400_000;
  const print = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);
  return Array.from({ length: 400 }, (_, i) => {
    const start = first + i * 9;
    return `/rates/time-series?symbols=${codes}&startDate=${print(start)}&endDate=${print(start + 30)}&_={n}`;
  });
}

/** Checks the answer before it is timed. */
export async function checked(
  url: string,
  scenario: Scenario,
  key: string,
): Promise<{ request: Request; response: Response; body: string }> {
  const headers = { 'x-api-key': key, ...scenario.headers };
  const codes = await fiftyCodes(url, key);
  const paths = scenario.paths.map((path) => path.replace('SYMBOLS50', codes.join(',')));
  const answers = paths.map(async (path) => {
    const response = await fetch(url + path.replace('{five}', codes.slice(0, 5).join(',')), {
      headers: { ...headers, 'accept-encoding': 'identity' },
    });
    const body = await response.text();
    expectOk(scenario.name, scenario.status, response.status, body);
    return { response, body };
  });
  return { request: { paths, headers, codes }, ...(await Promise.all(answers))[0]! };
}

async function fiftyCodes(url: string, key: string): Promise<string[]> {
  const response = await fetch(`${url}/symbols`, { headers: { 'x-api-key': key } });
  const { symbols } = (await response.json()) as { symbols: { symbol: string }[] };
  return symbols.slice(0, 50).map(({ symbol }) => symbol);
}
