/**
 * `npm run bench:postgres`: what one PostgreSQL carries. Its work for each of Openpit's calls in its own CPU time, which does
 * not depend on what else this machine does, and what an idle and a busy replica cost it.
 */
import { Ledger } from '../src/ledger/ledger.ts';
import type { SyncRequest } from '../src/ledger/quota/model.ts';
import { periodOf } from '../src/ledger/quota/period.ts';
import { systemClock } from '../src/runtime/clock.ts';
import { Cluster, PATH } from '../test/replicas/cluster.ts';
import { crowd } from '../test/replicas/crowd.ts';
import { removeFolders } from '../test/support/ledger.ts';
import { ownPostgres } from '../test/support/postgres.ts';
import { giveQuota } from '../test/support/quota.ts';
import { type Done, PostgresWatch } from './lib/postgres.ts';

const SECONDS = Number(process.env.SECONDS ?? 5);
const WRITERS = 4;

const database = await ownPostgres(true);
const watch = await PostgresWatch.open(database.url);
const ledgers = await Promise.all(
  Array.from({ length: WRITERS }, () => Ledger.open(database.url, systemClock, 'serving')),
);
console.log(`${WRITERS} writers at a time, ${SECONDS} s each; fsync on.\n`);
console.log('| What | per second here | per CPU-second of PostgreSQL |');
console.log('|---|---|---|');
for (const accounts of [1, 16, 256]) await leases(accounts);
await oneAccount();
for (const ticks of [1, 100, 2_000]) await pushes(ticks);
console.log(`\nA closed lease takes ${await bytesPerLease()} bytes, indexes included.`);
for (const ledger of ledgers) await ledger.close();

const cluster = await Cluster.start(database.url, 1);
await Bun.sleep(35_000); // until the lease of the start is returned
await replica('an idle replica', async () => Bun.sleep(SECONDS * 1000));
await busy(1);
await busy(100);
await cluster.end();
await watch.close();
await database.remove();
removeFolders();
process.exit(0);

/** Syncs this many accounts in one transaction, as a busy replica does. Every account has a writer of its own. */
async function leases(accounts: number): Promise<void> {
  const messages = await Promise.all(
    ledgers.map(async (ledger, w) => {
      const ids = Array.from({ length: accounts }, (_, i) => `bench-${accounts}-${w}-${i}`);
      for (const id of ids) await giveQuota(ledger, id, 1_000_000_000);
      return ids.map((id) => new Syncing(id));
    }),
  );
  const label = accounts === 1 ? 'quota syncs' : `accounts synced, ${accounts} in a transaction`;
  await measure(label, accounts, (w) => ledgers[w]!.quota.sync(messages[w]!.map((one) => one.next())));
}

/** All replicas want units of one account: they wait for each other. */
async function oneAccount(): Promise<void> {
  await giveQuota(ledgers[0]!, 'bench-shared', 1_000_000_000);
  const leases = ledgers.map(() => new Syncing('bench-shared'));
  await measure('quota syncs of one account that all share', 1, (w) =>
    ledgers[w]!.quota.sync([leases[w]!.next()]),
  );
}

async function pushes(ticks: number): Promise<void> {
  const symbols = await ledgers[0]!.symbols.list();
  const label = ticks === 1 ? 'ticks, one in a transaction' : `ticks, ${ticks} in a transaction`;
  await measure(label, ticks, (w) => {
    const at = systemClock.now();
    const batch = Array.from({ length: ticks }, (_, i) => ({
      symbolId: symbols[i % symbols.length]!.id,
      at,
      received: at,
      price: 100,
      id: crypto.randomUUID(),
    }));
    return ledgers[w]!.ticks.append(batch, 'bench');
  });
}

async function measure(
  label: string,
  each: number,
  call: (writer: number) => Promise<unknown>,
): Promise<void> {
  for (const w of ledgers.keys()) await call(w); // prepares the statements
  const before = await watch.done();
  const end = performance.now() + SECONDS * 1000;
  let calls = 0;
  const write = async (_: Ledger, w: number) => {
    while (performance.now() < end) {
      await call(w);
      calls++;
    }
  };
  await Promise.all(ledgers.map(write));
  const { seconds, cpuSeconds } = since(before, await watch.done());
  const count = calls * each;
  console.log(`| ${label} | ${round(count / seconds)} | ${round(count / cpuSeconds)} |`);
}

async function replica(label: string, run: () => Promise<unknown>): Promise<void> {
  const before = await watch.done();
  await run();
  const { seconds, cpuSeconds, transactions } = since(before, await watch.done());
  const share = ((cpuSeconds / seconds) * 100).toFixed(2);
  console.log(
    `${label}: ${(transactions / seconds).toFixed(1)} transactions a second, ${share} % of a core of PostgreSQL`,
  );
}

/** Each account asks 20 times a second. */
async function busy(accounts: number): Promise<void> {
  const keys = await Promise.all(Array.from({ length: accounts }, () => cluster.newAccount(1_000_000_000)));
  const stop = new AbortController();
  const load = { urls: cluster.urls, path: PATH, connections: 1, pauseMs: 50, until: stop.signal };
  const asking = keys.map(({ key }) => crowd({ ...load, key }));
  await Bun.sleep(5_000); // first requests are over, and blocks have found their size
  await replica(`a replica with ${accounts} busy account${accounts > 1 ? 's' : ''}`, () =>
    Bun.sleep(SECONDS * 1000),
  );
  stop.abort();
  await Promise.all(asking);
}

/** Leases that were opened, spent from and closed. */
async function bytesPerLease(): Promise<number> {
  const [count, batch] = [20_000, 200];
  const { engine, quota } = ledgers[0]!;
  const size = async () =>
    Number((await engine.read`SELECT pg_total_relation_size('quota_lease') AS bytes`)[0]?.bytes);
  await giveQuota(ledgers[0]!, 'bench-size', 1_000_000_000);
  const before = await size();
  for (let done = 0; done < count; done += batch) {
    const leases = Array.from({ length: batch }, () => new Syncing('bench-size'));
    await quota.sync(leases.map((lease) => lease.next()));
    await quota.sync(leases.map((lease) => ({ ...lease.next(), close: true })));
  }
  return Math.round(((await size()) - before) / count);
}

/** The messages of one lease, as a meter would send them: each spends what it was granted and wants more. */
class Syncing {
  readonly #request: SyncRequest;
  #seq = 0;

  constructor(accountId: string) {
    this.#request = {
      accountId,
      leaseId: crypto.randomUUID(),
      period: periodOf(systemClock.now()),
      replica: 'bench',
      spentBy: {},
      seq: 0,
      want: 0,
      need: 0,
      least: 0,
      barrierSeen: 0,
      close: false,
    };
  }

  next(): SyncRequest {
    const spent = 10 * this.#seq++;
    return {
      ...this.#request,
      seq: this.#seq,
      spentBy: { latest: spent },
      want: spent + 10,
      need: spent + 10,
    };
  }
}

function since(before: Done, after: Done): { seconds: number; cpuSeconds: number; transactions: number } {
  return {
    seconds: (after.atMs - before.atMs) / 1000,
    cpuSeconds: after.cpuSeconds - before.cpuSeconds,
    transactions: after.transactions - before.transactions,
  };
}

function round(value: number): string {
  return String(Math.round(value));
}
