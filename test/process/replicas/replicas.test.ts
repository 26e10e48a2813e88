import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Cluster, PATH } from '../../replicas/cluster.ts';
import { crowd } from '../../replicas/crowd.ts';
import { killed, faultsOf as killFaults } from '../../replicas/kill.ts';
import { expectedRace, race } from '../../replicas/race.ts';
import { rolling, faultsOf as rollingFaults } from '../../replicas/rolling.ts';
import { newDatabase } from '../../support/postgres.ts';
import { eventually } from '../../support/program.ts';

/** `npm run replicas` does the same with other numbers, and prints how long things take. */
describe('three replicas on one PostgreSQL', () => {
  let cluster: Cluster;
  beforeAll(async () => {
    cluster = await Cluster.start(await newDatabase(), 3);
  }, 180_000);
  afterAll(() => cluster.end());

  test('of 4,000 requests over all three, a quota of 2,000 admits exactly 2,000, ten times in a row', async () => {
    for (let run = 1; run <= 10; run++) {
      expect({ run, ...(await race(cluster, 2_000)) }).toEqual({ run, ...expectedRace(2_000) });
    }
    expect(await cluster.wrongCounts()).toEqual([]);
  }, 300_000);

  test('killed and restarted replicas never exceed the quota and lose no count', async () => {
    expect(killFaults(await killed(cluster, 10_000, 4))).toEqual([]);
  }, 180_000);

  test('usage is exact over all of them, whichever serves it', async () => {
    const { key } = await cluster.newAccount(1_000_000);
    await crowd({ urls: cluster.urls, path: PATH, key, connections: 4, requests: 333 });
    for (const program of cluster.replicas.programs) {
      const isExact = async () =>
        ((await (await program.get('/usage', key)).json()) as { used: number }).used === 333;
      await eventually(isExact);
    }
  }, 180_000);

  test('a rolling restart under load fails no request and loses no unit', async () => {
    const rolled = await rolling(cluster, 3);
    expect(rolled.answered).toBeGreaterThan(100);
    expect(rollingFaults(rolled)).toEqual([]);
  }, 180_000);
});
