import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Cluster, PATH } from '../../replicas/cluster.ts';
import { crowd } from '../../replicas/crowd.ts';
import { type FaultyPostgres, startFaultyPostgres } from '../../replicas/faulty-postgres.ts';
import { faultsOf, type Outage, outage } from '../../replicas/outage.ts';

/** Longer than a run takes on a busy machine, and far shorter than a hanging connection. */
const RECOVERY_MS_MAX = 20_000;
const STOP_MS_MAX = 40_000;
/** Slow on a busy machine, but far shorter than the 5 s of a hung call. `npm run replicas` prints the real figure. */
const P99_MS_MAX = 2_000;
const GROWN_MB_MAX = 150;

/** `npm run replicas -- stop --seconds 30` (or `hole`, or `slow`) does the same for longer, and prints how long things take. */
describe('three replicas whose PostgreSQL', () => {
  let database: FaultyPostgres;
  let cluster: Cluster;
  beforeAll(async () => {
    database = await startFaultyPostgres();
    cluster = await Cluster.start(database.url, 3, database.through);
  }, 180_000);
  afterAll(async () => {
    await cluster.end();
    await database.remove();
  });

  function expectSound(result: Outage): void {
    expect(faultsOf(result)).toEqual([]);
    expect(result.recoveryMs).toBeLessThan(RECOVERY_MS_MAX);
    expect(result.p99Ms.during).toBeLessThan(P99_MS_MAX);
    expect(result.grownMb).toBeLessThan(GROWN_MB_MAX);
  }

  test('is stopped for 10 s: responses continue from memory, counts stay right, and service recovers soon after', async () => {
    expectSound(await outage(cluster, 10_000, database.faults.stop));
  }, 180_000);

  test('is a black hole for 10 s: the same, and nothing hangs', async () => {
    expectSound(await outage(cluster, 10_000, database.faults.hole));
  }, 180_000);

  test('is unreachable while one is stopped: it ends, and its count is settled when it starts again', async () => {
    const { id, key } = await cluster.newAccount(100_000);
    const load = { urls: cluster.urls, path: PATH, key, connections: 2, requests: 300, pauseMs: 5 };
    const before = await crowd(load);
    await database.faults.hole.begin();
    const during = await crowd({ ...load, requests: 30 });
    expect(during.count(200)).toBeGreaterThan(0);
    const end = await Promise.race([cluster.replicas.programs[0]!.end('SIGTERM'), Bun.sleep(STOP_MS_MAX)]);
    await database.faults.hole.end();
    expect(end).toBe(0);
    await cluster.replicas.restart(0, 'SIGTERM');
    const answered = before.count(200) + during.count(200);
    expect(await cluster.usedOf(id)).toBe(answered);
    expect(await cluster.wrongCounts()).toEqual([]);
  }, 180_000);

  test('is 50 ms away: responses continue', async () => {
    const result = await outage(cluster, 6_000, database.faults.slow);
    expectSound(result);
    // None on a quiet machine.
    expect(result.during['503'] ?? 0).toBeLessThan(result.during['200']! / 10);
  }, 180_000);
});
