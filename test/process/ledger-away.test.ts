import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Cluster } from '../replicas/cluster.ts';
import { type Disturbed, disturbed } from '../replicas/disturbed.ts';
import { faultsOf, type Outage, outage } from '../replicas/outage.ts';

/** Longer than a run on a busy machine takes, and far shorter than a connection that hangs. */
const RECOVERY_MS_MAX = 20_000;
const P99_MS_MAX = 500;
const GROWN_MB_MAX = 150;

/** `npm run replicas -- stop --seconds 30` (or `hole`, or `slow`) does the same for longer, and says how long things take. */
describe('three replicas whose PostgreSQL', () => {
  let database: Disturbed;
  let cluster: Cluster;
  beforeAll(async () => {
    database = await disturbed();
    cluster = await Cluster.start(database.url, 3, database.through);
  }, 60_000);
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

  test('is stopped for 10 s: answers go on from memory, no wrong count, all well soon after', async () => {
    expectSound(await outage(cluster, 10_000, database.ways.stop));
  }, 120_000);

  test('is a black hole for 10 s: the same, and nothing hangs', async () => {
    expectSound(await outage(cluster, 10_000, database.ways.hole));
  }, 120_000);

  test('is 50 ms away: everything is answered', async () => {
    const result = await outage(cluster, 6_000, database.ways.slow);
    expectSound(result);
    expect(result.during).toEqual({ 200: expect.any(Number) });
  }, 120_000);
});
