import { expectOk } from './lib/check.ts';
import type { Request } from './lib/load.ts';

/** One kind of request. `path` makes a new one each time where the answer must never have been asked before. */
export interface Scenario {
  name: string;
  path: string;
  headers?: Record<string, string>;
  status: number;
  /** At least this share of nginx, and of the bare handler; undefined where nothing is promised. */
  ofNginx?: number;
  ofBare?: number;
}

const FIVE = 'XAU,XAG,PL,PA,HG-SPOT';
const RANGE = 'startDate=2024-05-01&endDate=2024-05-31';

export const SCENARIOS: readonly Scenario[] = [
  { name: 'latest × 1', path: '/rates/latest?symbols=XAU', status: 200 },
  { name: 'latest × 5', path: `/rates/latest?symbols=${FIVE}`, status: 200, ofNginx: 0.6, ofBare: 0.85 },
  { name: 'latest × 50', path: '/rates/latest?symbols=SYMBOLS50', status: 200 },
  {
    name: 'historical × 5',
    path: `/rates/historical?symbols=${FIVE}&date=2024-05-15`,
    status: 200,
    ofNginx: 0.55,
  },
  { name: 'time-series 30 × 1', path: `/rates/time-series?symbols=XAU&${RANGE}`, status: 200 },
  {
    name: 'time-series 30 × 5',
    path: `/rates/time-series?symbols=${FIVE}&${RANGE}`,
    status: 200,
    ofNginx: 0.6,
  },
  {
    name: 'fluctuation × 5',
    path: `/rates/fluctuation?symbols=${FIVE}&${RANGE}`,
    status: 200,
    ofNginx: 0.55,
  },
  { name: 'symbols', path: '/symbols', status: 200 },
  { name: 'usage', path: '/usage', status: 200 },
  {
    name: 'a 304',
    path: `/rates/historical?symbols=${FIVE}&date=2024-05-15`,
    headers: { 'if-none-match': '*' },
    status: 304,
  },
  { name: 'a refusal', path: '/rates/latest?symbols=NOPE', status: 404 },
];

/** The answer is right before it is timed. */
export async function checked(
  url: string,
  scenario: Scenario,
  key: string,
): Promise<{ request: Request; response: Response; body: string }> {
  const headers = { 'x-api-key': key, ...scenario.headers };
  const path = scenario.path.replace('SYMBOLS50', await fiftyCodes(url, key));
  const response = await fetch(url + path, { headers: { ...headers, 'accept-encoding': 'identity' } });
  const body = await response.text();
  expectOk(scenario.name, scenario.status, response.status, body);
  return { request: { path, headers }, response, body };
}

async function fiftyCodes(url: string, key: string): Promise<string> {
  const response = await fetch(`${url}/symbols`, { headers: { 'x-api-key': key } });
  const { symbols } = (await response.json()) as { symbols: { symbol: string }[] };
  return symbols
    .slice(0, 50)
    .map(({ symbol }) => symbol)
    .join(',');
}
