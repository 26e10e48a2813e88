import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { Ledger } from '../../src/ledger/ledger.ts';
import { load } from '../support/load.ts';
import { newDatabase, ownPostgres } from '../support/postgres.ts';
import { eventually, openpit } from '../support/program.ts';
import { Replicas } from '../support/replicas.ts';

/** The load over all replicas, as one sum. */
async function loadAll(replicas: Replicas, key: string, requests: number, connections = 8) {
  const share = Math.ceil(requests / replicas.urls.length);
  const results = await Promise.all(
    replicas.urls.map((url) =>
      load({ url: `${url}/rates/latest?symbols=XAU`, key, connections, requests: share }),
    ),
  );
  const count = (status: number) => results.reduce((sum, one) => sum + (one.statuses.get(status) ?? 0), 0);
  return {
    answered: count(200),
    refused: count(429),
    broken: results.reduce((sum, one) => sum + one.broken, 0),
  };
}

async function firstThatAnswers(urls: readonly string[], key: string): Promise<number | undefined> {
  for (const url of urls) {
    try {
      const answer = await fetch(`${url}/rates/latest?symbols=XAU`, { headers: { 'x-api-key': key } });
      await answer.text();
      return answer.status;
    } catch {
      // refused or reset: the next
    }
  }
  return undefined;
}

describe('three replicas on one PostgreSQL', () => {
  let replicas: Replicas;
  let ledger: Ledger;

  beforeAll(async () => {
    const url = await newDatabase();
    replicas = new Replicas(url, 3);
    await replicas.start();
    ledger = await Ledger.open(url, { now: () => Date.now() });
    await tick(100);
  }, 60_000);
  afterAll(async () => {
    await replicas.end();
    await ledger.close();
  });

  async function tick(price: number): Promise<void> {
    const gold = (await ledger.symbols.list()).find((symbol) => symbol.code === 'XAU')!;
    const at = Date.now();
    await ledger.ticks.append([{ symbolId: gold.id, at, received: at, price, id: `${at} ${price}` }], 'test');
  }

  test('a quota of 3,000 asked 6,000 times over all three answers exactly 3,000, again and again', async () => {
    for (let run = 0; run < 3; run++) {
      const { key } = await replicas.createAccount(3_000);
      expect(await loadAll(replicas, key, 6_000)).toEqual({ answered: 3_000, refused: 3_000, broken: 0 });
      expect(await replicas.usedOf(key)).toBe(3_000);
    }
  }, 120_000);

  test('one that is killed in the middle and started again: never over, nothing lost', async () => {
    const { key } = await replicas.createAccount(5_000);
    const asking = loadAll(replicas, key, 9_000);
    await Bun.sleep(300);
    await replicas.restart(1, 'SIGKILL');
    const first = await asking;
    const rest = await loadAll(replicas, key, 6_000);
    const answered = first.answered + rest.answered;
    expect(answered).toBeLessThanOrEqual(5_000);
    const used = await replicas.usedOf(key);
    expect(used).toBeGreaterThanOrEqual(answered);
    expect(used).toBeLessThanOrEqual(answered + 8); // what the killed one had in flight
    expect((await openpit(['check'], replicas.settings)).stdout).toContain('All counts add up');
  }, 120_000);

  test('a tick that is written once shows on all', async () => {
    const { key } = await replicas.createAccount(1_000_000);
    for (let price = 201; price <= 210; price++) {
      await tick(price);
      const shows = async (url: string) => {
        const answer = await fetch(`${url}/rates/latest?symbols=XAU`, { headers: { 'x-api-key': key } });
        return ((await answer.json()) as { rates: { XAU: number } }).rates.XAU === price;
      };
      await eventually(async () => (await Promise.all(replicas.urls.map(shows))).every(Boolean), 2_000);
    }
  }, 60_000);

  test('a key that is revoked is refused on all', async () => {
    const { key, keyId } = await replicas.createAccount(1_000);
    const statuses = () =>
      Promise.all(replicas.programs.map(async (one) => (await one.get('/usage', key)).status));
    expect(await statuses()).toEqual([200, 200, 200]);
    await openpit(['key', 'revoke', keyId], replicas.settings);
    await eventually(async () => (await statuses()).every((status) => status === 401), 2_000);
  }, 60_000);

  test('usage is exact over all of them, whichever is asked', async () => {
    const { key } = await replicas.createAccount(1_000_000);
    await loadAll(replicas, key, 333);
    for (const program of replicas.programs) {
      expect(await (await program.get('/usage', key)).json()).toMatchObject({ used: 333 });
    }
  }, 60_000);

  test('a rolling restart under load: no failed request, no lost unit', async () => {
    const { key } = await replicas.createAccount(1_000_000);
    const stop = new AbortController();
    let answered = 0;
    const failed: string[] = [];
    // As nginx does: when a replica closes its door, the next one is asked. A failure is what no replica answers.
    const client = async (at: number) => {
      for (let turn = at; !stop.signal.aborted; turn++) {
        const answer = await firstThatAnswers(
          [0, 1, 2].map((i) => replicas.urls[(turn + i) % 3]!),
          key,
        );
        if (answer === 200) answered++;
        else failed.push(String(answer));
      }
    };
    const clients = Promise.all([0, 1, 2, 3, 4, 5].map(client));
    for (const index of [0, 1, 2]) await replicas.restart(index, 'SIGTERM');
    stop.abort();
    await clients;
    expect(failed).toEqual([]);
    expect(await replicas.usedOf(key)).toBe(answered);
  }, 120_000);
});

describe('PostgreSQL goes away', () => {
  let database: Awaited<ReturnType<typeof ownPostgres>> | undefined;
  let replicas: Replicas | undefined;
  afterEach(async () => {
    await replicas?.end();
    await database?.remove();
  });

  test('for some seconds under load: answers go on from memory, no wrong count, all well soon after', async () => {
    database = await ownPostgres();
    replicas = new Replicas(database.url, 2);
    await replicas.start();
    const { key } = await replicas.createAccount(1_000_000);
    expect((await loadAll(replicas, key, 2_000)).broken).toBe(0);
    const before = await replicas.usedOf(key);
    await database.stop();
    const away = await Promise.all(
      replicas.programs.map((one) =>
        one.get('/symbols', key).then(async (answer) => {
          await answer.text();
          return answer.status;
        }),
      ),
    );
    expect(away.every((status) => status === 200 || status === 503)).toBe(true);
    await Bun.sleep(3_000);
    await database.start();
    await eventually(async () => {
      const answers = await Promise.all(replicas!.programs.map((one) => one.get('/symbols', key)));
      return answers.every((answer) => answer.status === 200);
    }, 10_000);
    const after = await loadAll(replicas, key, 1_000);
    expect(after).toMatchObject({ refused: 0, broken: 0 });
    const used = await replicas.usedOf(key);
    expect(used).toBeGreaterThanOrEqual(before + after.answered + 2);
    expect((await openpit(['check'], replicas.settings)).stdout).toContain('All counts add up');
  }, 120_000);
});
