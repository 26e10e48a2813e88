import { expect, test } from 'bun:test';
import type { Ledger } from '../../src/ledger/ledger.ts';
import { SCHEMA_VERSION } from '../../src/ledger/schema/migrations.ts';
import { type Day, parseDay } from '../../src/market/day.ts';
import { type EngineName, onEachEngine } from '../support/ledger.ts';
import { ledgersOf, symbolOf } from '../support/ledgers.ts';
import { openTestService } from '../support/service.ts';
import { loadFixture, missingFixtureMessage } from './fixture.ts';
import {
  CLOSED_MONTH,
  CORRECTED_AT,
  FEED_RUN,
  GOLD,
  GOLD_BEFORE_CORRECTION,
  GOLD_TICK,
  KEYS,
  MINUTES,
  OIL_2020,
  OPEN_LEASE,
  OWN_FORMULA,
  OWN_SYMBOL,
  PLAN,
  RECORDED_AT,
  USED_IN_CLOSED_MONTH,
} from './sample-ledger.ts';

const VERSIONS = Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1);

/** The schema version that introduced what the sample could not contain before. */
const INTRODUCED = { quota: 2, feeds: 3, quarantine: 5, replicas: 6, audit: 16, intraday: 17, formulas: 18 };

test('every schema version has a fixture', () => {
  expect(missingFixtureMessage(SCHEMA_VERSION)).toBeUndefined();
});

test('a migration without a fixture is reported with the command that creates it', () => {
  expect(missingFixtureMessage(SCHEMA_VERSION + 1)).toBe(
    `schema version ${SCHEMA_VERSION + 1} has no fixture: run "npx bun scripts/schema-fixture.ts" and commit what it writes`,
  );
});

onEachEngine('a ledger of an older schema', (engine) => {
  const ledgers = ledgersOf(engine);
  const opened = new Map<number, Promise<Ledger>>();
  /** The upgraded ledger of a version, which its tests share: each reads and changes rows of its own. */
  const upgraded = (version: number) =>
    opened.getOrInsertComputed(version, async () => ledgers.upgrade(await loadFixture(version, engine)));

  for (const version of VERSIONS) {
    test(`of version ${version} is upgraded once, and keeps its epoch and its revisions`, async () => {
      const url = await loadFixture(version, engine);
      const ledger = await ledgers.upgrade(url);
      const [newest] = await ledger.engine.read`SELECT count(*) AS n, max(id) AS id FROM migration`;
      expect([Number(newest!.n), Number(newest!.id)]).toEqual([SCHEMA_VERSION, SCHEMA_VERSION]);
      const head = await ledger.head();
      const again = await ledgers.open(url);
      expect(await again.head()).toEqual(head);
    });

    test(`of version ${version} keeps its prices, with their corrections, sources and ticks`, async () => {
      const ledger = await upgraded(version);
      const gold = await symbolOf(ledger, 'XAU');
      const versions = await ledger.bars.revisions(gold.id, 'real', day('2024-05-01'), day('2024-05-31'));
      expect(versions).toMatchObject([
        { ...GOLD['2024-05-13'], recordedAt: RECORDED_AT, reason: null },
        { ...GOLD_BEFORE_CORRECTION, recordedAt: RECORDED_AT, reason: null },
        { ...GOLD['2024-05-14'], recordedAt: CORRECTED_AT, reason: 'correction' },
      ]);
      const sources = await ledger.sources.names();
      expect(versions.map((bar) => sources.get(bar.sourceId))).toEqual(['exchange', 'exchange', 'exchange']);
      expect(await ledger.ticks.ofDay(gold.id, 'real', day('2024-05-15'))).toMatchObject([GOLD_TICK]);
      const silver = await symbolOf(ledger, 'XAG');
      expect(await ledger.bars.recent.span(silver.id, 'real')).toBeUndefined();
      expect(await ledger.bars.recent.span(silver.id, 'simulated')).toBeDefined();
      expect(await symbolOf(ledger, OWN_SYMBOL.code)).toMatchObject(OWN_SYMBOL);
    });

    test(`of version ${version} serves its prices to the keys that were valid`, async () => {
      const service = await openTestService(engine, {
        ledgerUrl: await loadFixture(version, engine),
        now: RECORDED_AT + 2 * 3_600_000,
      });
      const get = async (path: string, key: string) => {
        const response = await service.get(path, key);
        return { status: response.status, body: await response.json() };
      };
      const bars = 'symbols=XAU&startDate=2024-05-01&endDate=2024-05-14&metadata=false';
      expect(await get(`/rates/time-series?${bars}`, KEYS.valid)).toMatchObject({
        status: 200,
        body: {
          rates: { '2024-05-13': { XAU: GOLD['2024-05-13'] }, '2024-05-14': { XAU: GOLD['2024-05-14'] } },
        },
      });
      expect(await get('/rates/historical?symbols=WTI&date=2020-04-20', KEYS.headerOnly)).toMatchObject({
        body: { rates: { WTI: OIL_2020 } },
      });
      expect(await get('/rates/latest?symbols=XAU,OLIVES', KEYS.valid)).toMatchObject({
        body: { rates: { XAU: GOLD_TICK.price, OLIVES: 8_900 } },
      });
      expect(await get('/usage', KEYS.valid)).toMatchObject({ body: { plan: 'club', quota: PLAN.quota } });
      const latest = '/rates/latest?symbols=XAU';
      expect((await get(latest, KEYS.revoked)).status).toBe(401);
      expect((await get(latest, KEYS.expired)).status).toBe(401);
      expect((await get(latest, KEYS.elsewhere)).status).toBe(403);
      expect((await get(latest, KEYS.suspended)).status).toBe(403);
      expect((await service.get(`${latest}&apiKey=${KEYS.headerOnly}`)).status).toBe(403);
      await service.close();
    });

    test(`of version ${version} keeps its plans and accounts, and new accounts can be added`, async () => {
      const ledger = await upgraded(version);
      expect((await ledger.plans.list()).find((plan) => plan.name === PLAN.name)).toEqual(PLAN);
      // 30 days were the default: they now mean what the version of the interface says.
      const free = (await ledger.plans.list()).find((plan) => plan.name === 'free');
      expect(free!.maxSpanDays).toBeNull();
      expect((await ledger.accounts.list()).map(({ id, plan, status }) => [id, plan, status])).toEqual([
        ['acme', 'club', 'active'],
        ['late', 'free', 'suspended'],
      ]);
      const key = (await ledger.keys.of('acme')).find(({ allowedIps }) => allowedIps !== null);
      expect(key!.allowedIps).toEqual(['192.0.2.0/24', '2001:db8::1']);
      await ledger.accounts.create({ id: 'new', name: 'New', plan: 'pro', status: 'active', createdAt: 0 });
      expect(await ledger.accounts.find('new')).toMatchObject({ plan: 'pro' });
    });
  }

  for (const version of VERSIONS.filter((one) => one >= INTRODUCED.quota)) {
    test(`of version ${version} keeps what was used, and settles the lease that was open`, async () => {
      const ledger = await upgraded(version);
      const total = Object.values(USED_IN_CLOSED_MONTH).reduce((sum, count) => sum + count);
      expect(await ledger.quota.usage('acme', CLOSED_MONTH)).toMatchObject({
        used: total,
        quota: PLAN.quota,
      });
      const days = await ledger.quota.usageByDay('acme', day('2024-04-01'), day('2024-04-30'));
      expect(Object.fromEntries(days.map(({ endpoint, count }) => [endpoint, count]))).toEqual(
        USED_IN_CLOSED_MONTH,
      );
      expect(await ledger.quota.check()).toEqual([]);

      const [open] = await ledger.engine.read`SELECT period, replica FROM quota_lease WHERE open = 1`;
      const period = Number(open!.period);
      const last = { leaseId: OPEN_LEASE.leaseId, accountId: 'acme', period, replica: String(open!.replica) };
      const rest = {
        seq: 3,
        spentBy: { latest: 9 },
        want: 0,
        need: 0,
        least: 0,
        barrierSeen: 0,
        close: true,
      };
      expect((await ledger.quota.sync([{ ...last, ...rest }]))[0]).toMatchObject({
        state: 'closed',
        spent: 9,
      });
      expect((await ledger.quota.usage('acme', period)).used).toBe(9);
      expect(await ledger.quota.check()).toEqual([]);
    });
  }

  for (const version of VERSIONS.filter((one) => one >= INTRODUCED.feeds)) {
    test(`of version ${version} keeps its feeds and their runs`, async () => {
      const ledger = await upgraded(version);
      const [ecb, worldBank] = await ledger.feeds.health(RECORDED_AT);
      expect([ecb!.key, ecb!.enabled]).toEqual(['ecb', false]);
      expect(worldBank).toMatchObject({ key: 'world-bank', enabled: true, days: 12, gaps: 1, failures: 0 });
      expect(await ledger.feeds.history(10)).toMatchObject([{ feed: 'world-bank', number: 1, ...FEED_RUN }]);
      expect((await ledger.feeds.bodies('world-bank')).get('ab12')).toMatchObject({ etag: '"v1"' });
    });
  }

  for (const version of VERSIONS.filter((one) => one >= INTRODUCED.quarantine)) {
    test(`of version ${version} keeps the tick that was held back, and can release it`, async () => {
      const ledger = await upgraded(version);
      const [held] = await ledger.quarantine.list({ all: true, limit: 10 });
      expect(held).toMatchObject({ symbol: 'XAU', tickId: 'tick-2', state: 'held', price: 23_744 });
      expect(await ledger.quarantine.release(held!.id, RECORDED_AT, 'test')).toBe(true);
      const gold = await symbolOf(ledger, 'XAU');
      expect(await ledger.ticks.ofDay(gold.id, 'real', day('2024-05-15'))).toHaveLength(2);
    });
  }

  for (const version of VERSIONS.filter((one) => one >= INTRODUCED.audit)) {
    test(`of version ${version} keeps its audit log and the uses of keys`, async () => {
      const ledger = await upgraded(version);
      expect(await ledger.audit.list({ limit: 10 })).toMatchObject([
        { actor: 'ada', via: 'cli', action: 'plan.update', target: PLAN.name },
      ]);
      expect(await ledger.keyUses.of('acme', 0)).toMatchObject([{ endpoint: 'latest', count: 3 }]);
    });
  }

  for (const version of VERSIONS.filter((one) => one >= INTRODUCED.replicas)) {
    test(`of version ${version} keeps the processes that served from it`, async () => {
      const ledger = await upgraded(version);
      expect((await ledger.replicas.list()).replicas).toMatchObject([{ id: 'replica-1', version: '0.1.0' }]);
    });
  }

  for (const version of VERSIONS.filter((one) => one >= INTRODUCED.intraday)) {
    test(`of version ${version} keeps its minutes and hours`, async () => {
      const ledger = await upgraded(version);
      const symbols = { origin: 'real', symbolIds: [(await symbolOf(ledger, 'XAU')).id] } as const;
      const days = { first: day('2024-05-13'), last: day('2024-05-13') };
      const time = { from: 0, to: RECORDED_AT };
      const [minutes] = await ledger.intraday.stored(symbols, days, time, 'minute');
      expect(minutes!.bars).toMatchObject(MINUTES);
      const [hours] = await ledger.intraday.stored(symbols, days, time, 'hour');
      expect(hours!.bars).toMatchObject([{ open: 2340.5, close: 2341, minutes: 2 }, { close: 2336.1 }]);
    });
  }

  for (const version of VERSIONS) {
    test(`of version ${version} has the formulas that are built in, and its own`, async () => {
      const ledger = await upgraded(version);
      const formulas = await ledger.formulas.list();
      expect(formulas).toContainEqual(expect.objectContaining({ code: 'BRENTWTI' }));
      if (version >= INTRODUCED.formulas) expect(formulas).toContainEqual(OWN_FORMULA);
    });
  }

  test('the upgraded schema is the same whichever version it started from', async () => {
    const fresh = await schemaOf(await ledgers.new(), engine);
    for (const version of VERSIONS) {
      expect(await schemaOf(await upgraded(version), engine)).toEqual(fresh);
    }
  });
});

/** Every column and index, with its definition. */
async function schemaOf(ledger: Ledger, engine: EngineName): Promise<string[]> {
  const { read } = ledger.engine;
  const rows =
    engine === 'sqlite'
      ? await read`SELECT m.name || '.' || c.name || ' ' || c.type || ' ' || c."notnull" || ' ' || c.pk AS definition
          FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table'
        UNION SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`
      : await read`SELECT table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable AS definition
          FROM information_schema.columns WHERE table_schema = 'public'
        UNION SELECT indexdef FROM pg_indexes WHERE schemaname = 'public'`;
  return rows.map((row) => String(row.definition)).sort();
}

function day(date: string): Day {
  return parseDay(date)!;
}
