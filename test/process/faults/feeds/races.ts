import { ENGINES } from '../../../support/ledger.ts';
import { count, type Environment } from '../environment.ts';
import { PricePusher, TOKEN } from '../price-pusher.ts';
import { row } from '../row.ts';

const DAY_MS = 86_400_000;

interface Revision {
  close: number;
  source: string;
  revision: number;
}

export const races = row('races', {
  fault: 'two operators’ writes race; two feeds report the same day',
  mustHold: 'all readers see one order, and both values are kept as revisions',
  async run(environment, { days, writes }) {
    let [kept, won] = [0, 0];
    for (const engine of ENGINES) {
      const settings = { ...(await environment.settings(engine)), OPENPIT_ADMIN_TOKEN: TOKEN };
      const { key } = await environment.account(settings, 1_000_000_000);
      // Two replicas on PostgreSQL, one process on SQLite.
      const first = await environment.program(settings);
      const other = {
        ...(await environment.settings()),
        ...settings,
        OPENPIT_DATA_DIR: (await environment.settings()).OPENPIT_DATA_DIR!,
      };
      const second = engine === 'postgres' ? await environment.program(other) : first;
      kept += await raceFeeds(environment, [first.url, second.url], key, days);
      won += await raceOperators(environment, [first.url, second.url], writes);
    }
    return {
      tried: `${count(days)} days reported by two feeds at once and ${count(writes)} plans written by two operators at once, on each engine`,
      figures: `${count(kept)} revisions kept, each day in one order in every response; ${count(won)} plans exactly as one of the two operators wrote them`,
    };
  },
});

/** Both feeds send the same days at the same moment, with different prices. */
async function raceFeeds(
  environment: Environment,
  urls: readonly string[],
  key: string,
  days: number,
): Promise<number> {
  const pushers = [new PricePusher('pusher-a'), new PricePusher('pusher-b')];
  let kept = 0;
  for (let n = 0; n < days; n++) {
    const date = new Date(Date.UTC(2020, 0, 1) + n * DAY_MS).toISOString().slice(0, 10);
    const statuses = await Promise.all(
      pushers.map((pusher, i) =>
        pusher.post(urls[i]!, 'bars', [{ symbol: 'XAU', date, price: 1_500 + i + 1 }]),
      ),
    );
    environment.holds(
      statuses.every((status) => status === 200),
      `${date}: pushes were answered with ${statuses.join()}`,
    );
    const ask = async (url: string, path: string) =>
      (
        await fetch(`${url}/rates/${path}?symbols=XAU&date=${date}`, { headers: { 'x-api-key': key } })
      ).json();
    let [last, found] = ['', 0];
    for (const url of urls) {
      const revisions = await settled(async () => {
        const { rates } = (await ask(url, 'revisions')) as { rates: { XAU: Revision[] } };
        return rates.XAU;
      });
      const order = JSON.stringify(revisions);
      environment.holds(
        revisions.length === 2 &&
          revisions[0]!.revision < revisions[1]!.revision &&
          revisions[0]!.source !== revisions[1]!.source,
        `${date}: ${order}`,
      );
      environment.holds(last === '' || last === order, `${date}: two replicas have two orders`);
      last = order;
      const shown = await settledClose(url, ask, revisions.at(-1)?.close);
      found = revisions.length;
      environment.holds(
        shown === revisions.at(-1)?.close,
        `${date}: ${shown} is shown, the last word is ${order}`,
      );
    }
    kept += found;
  }
  return kept;
}

/** Retries for a while, because a replica may be 200 ms behind. */
async function settled(ask: () => Promise<Revision[]>): Promise<Revision[]> {
  for (let attempt = 0; ; attempt++) {
    const found = await ask();
    if (found.length === 2 || attempt === 100) return found;
    await Bun.sleep(50);
  }
}

async function settledClose(
  url: string,
  ask: (url: string, path: string) => Promise<unknown>,
  wanted: number | undefined,
): Promise<number | undefined> {
  for (let attempt = 0; ; attempt++) {
    const { rates } = (await ask(url, 'historical')) as { rates?: { XAU: { close: number } } };
    if (rates?.XAU.close === wanted || attempt === 100) return rates?.XAU.close;
    await Bun.sleep(50);
  }
}

/** Both write the same plan, each with its own consistent pair of limits. */
async function raceOperators(
  environment: Environment,
  urls: readonly string[],
  writes: number,
): Promise<number> {
  let won = 0;
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  for (let n = 0; n < writes; n++) {
    const path = `/admin/plans/race-${n}`;
    const put = (i: number) => {
      const body = JSON.stringify({ quota: 1_000 + i, maxSymbols: 10 + i, burstPerSecond: 100 + i });
      return fetch(urls[i]! + path, { method: 'PUT', headers, body });
    };
    const statuses = (await Promise.all([put(0), put(1)])).map(({ status }) => status);
    const answer = await fetch(`${urls[0]}/admin/plans`, { headers });
    const { plans } = (await answer.json()) as {
      plans: { name: string; quota: number; maxSymbols: number; burstPerSecond: number }[];
    };
    const plan = plans.find(({ name }) => name === `race-${n}`);
    const by = plan ? plan.quota - 1_000 : -1;
    const isWhole = plan !== undefined && plan.maxSymbols === 10 + by && plan.burstPerSecond === 100 + by;
    environment.holds(isWhole, `plan ${n}, answered ${statuses.join()}: ${JSON.stringify(plan)}`);
    if (isWhole) won++;
  }
  return won;
}
