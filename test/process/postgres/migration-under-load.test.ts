import { expect, test } from 'bun:test';
import { SQL } from 'bun';
import { Cluster, PATH } from '../../replicas/cluster.ts';
import { crowd } from '../../replicas/crowd.ts';
import { newDatabase } from '../../support/postgres.ts';

const ROUNDS = 5;

test('replicas under load answer every request and count exactly while a newer version adds columns to every table', async () => {
  const url = await newDatabase();
  const cluster = await Cluster.start(url, 2);
  const other = new SQL({ url, max: 1 });
  try {
    const { id, key } = await cluster.newAccount(10_000_000);
    const stop = new AbortController();
    const load = crowd({
      urls: cluster.urls,
      path: PATH,
      key,
      connections: 4,
      until: stop.signal,
      pauseMs: 10,
    });
    for (let round = 1; round <= ROUNDS; round++) {
      await Bun.sleep(600); // traffic between two migrations: several syncs of each lease
      await addColumns(other, `added_${round}`);
      await cluster.tick(100 + round);
    }
    stop.abort();
    const received = await load;
    expect({ unavailable: received.count(503), unexpected: received.unexpected }).toEqual({
      unavailable: 0,
      unexpected: {},
    });
    expect(received.count(200)).toBeGreaterThan(100);
    expect(await cluster.usedOf(id)).toBe(received.count(200));
    expect(cluster.replicas.programs.map(({ stderr }) => stderr).join('')).not.toContain('cached plan');
    expect(await cluster.wrongCounts()).toEqual([]);
  } finally {
    await cluster.end();
    await other.close();
  }
}, 180_000);

async function addColumns(sql: SQL, name: string): Promise<void> {
  const tables: { name: string }[] =
    await sql`SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`;
  for (const table of tables) await sql.unsafe(`ALTER TABLE ${table.name} ADD COLUMN ${name} INTEGER`);
}
