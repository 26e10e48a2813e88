import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { SQL } from 'bun';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../../src/ledger/schema/migrations.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import { Cluster } from '../../replicas/cluster.ts';
import { expectedRace, race } from '../../replicas/race.ts';
import { loadFixture } from '../../schemas/fixture.ts';
import { hasPgbouncer, Pgbouncer } from '../../support/database/pgbouncer.ts';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { openpit } from '../../support/program.ts';

const title = 'behind PgBouncer in transaction mode';

/** Fewer than three replicas use, so that sessions are shared all the time. */
const SERVER_CONNECTIONS = 5;

describe.skipIf(!hasPgbouncer)(
  hasPgbouncer ? title : `${title} (skipped: pgbouncer is not installed)`,
  () => {
    setDefaultTimeout(180_000);
    let url: string;
    let pooler: Pgbouncer;
    const settings = (database: string) => ({
      OPENPIT_DATABASE_URL: pooler.through(database),
      OPENPIT_DATA_DIR: newFolder(),
    });
    beforeAll(async () => {
      url = await newDatabase();
      pooler = await Pgbouncer.start(url, SERVER_CONNECTIONS);
    });
    afterAll(() => pooler?.stop());

    test('three replicas answer a quota exactly, and every count adds up', async () => {
      const cluster = await Cluster.start(url, 3, pooler.through(url));
      try {
        for (let run = 1; run <= 3; run++) {
          expect({ run, ...(await race(cluster, 5_000)) }).toEqual({ run, ...expectedRace(5_000) });
        }
        expect(await cluster.wrongCounts()).toEqual([]);
      } finally {
        await cluster.end();
      }
    });

    test('an import of many rows is complete', async () => {
      const database = await newDatabase();
      const file = join(newFolder(), 'gold.csv');
      const rows = Array.from({ length: 5_000 }, (_, i) => {
        const date = new Date(Date.UTC(2000, 0, 1) + i * 86_400_000).toISOString().slice(0, 10);
        return `${date},${300 + (i % 17)}`;
      });
      await Bun.write(file, `date,close\n${rows.join('\n')}\n`);
      const imported = await openpit(['import', file, '--symbol', 'XAU'], settings(database));
      expect(imported).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('5000 taken') });
      const ledger = await Ledger.open(database, systemClock);
      expect(await ledger.bars.count()).toBe(5_000);
      await ledger.close();
    });

    test('processes that migrate at the same time migrate once', async () => {
      const old = await loadFixture(SCHEMA_VERSION - 1, 'postgres');
      const found = await Promise.all(
        [1, 2, 3, 4].map(() => Ledger.migrate(pooler.through(old), systemClock)),
      );
      expect(found.map(({ version }) => version).sort()).toEqual([
        SCHEMA_VERSION - 1,
        ...[1, 2, 3].map(() => SCHEMA_VERSION),
      ]);
    });

    for (const [how, lines] of [
      ['rejects', []],
      [
        'ignores',
        [
          'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,default_transaction_read_only',
        ],
      ],
    ] as const) {
      test(`a pooler that ${how} startup parameters: limits hold for every read and transaction, and for nobody else`, async () => {
        const own = await Pgbouncer.start(url, 1, lines);
        const ledger = await Ledger.open(own.through(url), systemClock, 'serving');
        const limit = `SELECT current_setting('statement_timeout') AS statement,
          current_setting('idle_in_transaction_session_timeout') AS idle`;
        const limits = { statement: '4s', idle: '2s' };
        expect((await ledger.engine.read.unsafe(limit))[0]).toEqual(limits);
        expect((await ledger.engine.write((tx) => tx.unsafe(limit)))[0]).toEqual(limits);
        expect(await ledger.engine.read`SELECT ${7}::int AS n`.values()).toEqual([[7]]);
        const reader = await Ledger.openForReading(own.through(url), systemClock);
        const write = reader.engine.write((tx) => tx`UPDATE counter SET value = value`);
        await expect(write).rejects.toThrow('read-only');
        const other = new SQL({ url: own.through(url), max: 1, prepare: false });
        expect((await other.unsafe(limit).simple())[0]).toEqual({ statement: '0', idle: '0' });
        await Promise.all([other.close(), reader.close(), ledger.close()]);
        await own.stop();
      });
    }
  },
);
