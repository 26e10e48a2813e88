import { ConnectionLost, Openpit } from '../../client/src/index.ts';

/** Runs in Bun, Node and a browser, so it uses nothing that only one of them has. */

export interface Target {
  url: string;
  key: string;
}

export interface RequestsOutcome {
  /** The rows of the history, as date and symbol, in the order received. */
  rows: string[];
  pages: number;
  /** The days whose prices were received. */
  days: string[];
  /** Calls that ended with an error. */
  failures: string[];
}

const HISTORY = { symbols: ['XAU', 'XAG'], from: '2000-01-01', to: '2024-05-14' };
const AT_ONCE = 4;

/** Reads a long history and many single days, some of them at the same time. */
export async function sendRequests({
  url,
  key,
  days,
}: Target & { days: readonly string[] }): Promise<RequestsOutcome> {
  const client = new Openpit({ url, key, retries: 10 });
  const outcome: RequestsOutcome = { rows: [], pages: 0, days: [], failures: [] };
  const fail = (error: unknown) => outcome.failures.push(`${error}`);
  const pages = client.history(HISTORY);
  const readHistory = async () => {
    for await (const page of pages) {
      outcome.pages++;
      outcome.rows.push(...page.rates.map(({ date, symbol }) => `${date} ${symbol}`));
    }
  };
  await readHistory().catch(fail);
  const left = [...days];
  const readDays = async () => {
    for (let day = left.shift(); day !== undefined; day = left.shift()) {
      const { date } = await client.historical(['XAU'], day, { metadata: false });
      outcome.days.push(date);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, () => readDays().catch(fail)));
  return outcome;
}

/** Sends calls that are not repeated, and returns how each ended. */
export async function sendOnce({ url, key, days }: Target & { days: readonly string[] }): Promise<string[]> {
  const client = new Openpit({ url, key, retries: 0 });
  const ends: string[] = [];
  for (const day of days) {
    const end = await client.historical(['XAU'], day).then(
      () => 'answered',
      (error) => (error instanceof ConnectionLost ? 'lost' : `${error}`),
    );
    ends.push(end);
  }
  return ends;
}

/** Listens until the price of XAU reaches `last`. */
export async function listen({
  url,
  key,
  last,
}: Target & { last: number }): Promise<[symbol: string, rate: number][]> {
  const rates: [string, number][] = [];
  for await (const { symbol, rate } of new Openpit({ url, key }).stream(['XAU', 'XAG'])) {
    rates.push([symbol, rate]);
    if (symbol === 'XAU' && rate >= last) break;
  }
  return rates;
}
