import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { Cluster } from '../../replicas/cluster.ts';
import { revocationSpread, tickSpread } from '../../replicas/spread.ts';
import { readyLedgerUrl } from '../../support/database/ready-ledger.ts';

/** Promised are 500 ms for 99 of 100 ticks and a second for a key: see `npm run replicas -- spread`. */
const SPREAD_MS_MAX = 3_000;

setDefaultTimeout(180_000);

let cluster: Cluster;
beforeAll(async () => {
  const url = await readyLedgerUrl('postgres');
  cluster = await Cluster.start(url, 3);
});
afterAll(() => cluster.end());

test('a tick that is pushed to one replica shows on the others within seconds', async () => {
  const took = await tickSpread(cluster, 30);
  expect(took).toHaveLength(60);
  expect(Math.max(...took)).toBeLessThan(SPREAD_MS_MAX);
});

test('a revoked key is refused on every replica within seconds', async () => {
  expect(Math.max(...(await revocationSpread(cluster, 5)))).toBeLessThan(SPREAD_MS_MAX);
});
