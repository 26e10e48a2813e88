import { expect, test } from 'bun:test';
import { SCHEMAS } from '../../../src/api/openapi/schemas/schemas.ts';
import { printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { day } from '../../support/ledgers.ts';

const RANGE = 'startDate=2024-05-10&endDate=2024-05-14';
const LONG = 'symbols=XAU&startDate=2000-01-01&endDate=2024-05-14';
const LATEST = '/rates/latest?symbols=XAU';

/** One request for each way in which a unit is charged. */
const CHARGED = [
  '/symbols?',
  `${LATEST}`,
  '/rates/historical?symbols=XAU&date=2024-05-14',
  `/rates/time-series?symbols=XAU,XAG&${RANGE}`,
  `/rates/fluctuation?symbols=XAU&${RANGE}`,
  `/rates/statistics?symbols=XAU&${RANGE}`,
  `/rates/history?${LONG}`,
  `/rates/history?${LONG}&format=csv`,
  `/rates/history?${LONG}&format=ndjson&interval=month`,
  `/rates/historical?symbols=XAU&date=2024-05-14&asOf=2024-05-15`,
  '/rates/revisions?symbols=XAU&date=2024-05-14',
  '/market?',
];

onEachEngine('dryRun=true', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const days = Array.from(
      { length: 4_100 },
      (_, i) => [printDay(day('2024-05-14') - i), 2_000 + i] as const,
    );
    await service.publish('XAU', Object.fromEntries(days));
    await service.publish('XAG', { '2024-05-10': 28.1, '2024-05-14': 28.5 });
    await service.setPlan({ name: 'two', quota: 2 });
  });
  const usedBy = async (key: string) => Number((await api.ask('/usage', { key })).body.used);

  for (const path of CHARGED) {
    test(`${path} reports exactly what the request then costs, and costs nothing itself`, async () => {
      const key = await api.service.key('basic');
      const dry = await api.ask(`${path}&dryRun=true`, { key });
      expect(dry.status).toBe(200);
      expect(SCHEMAS.DryRun.parse(dry.body)).toMatchObject({ admitted: true, remaining: 10_000 });
      expect(Object.keys(dry.body)).toEqual([
        'success',
        'dryRun',
        'cost',
        'admitted',
        'remaining',
        'resetAt',
      ]);
      expect(dry.headers.get('cache-control')).toBe('no-store');
      expect(await usedBy(key)).toBe(0);
      expect((await api.ask(path, { key })).status).toBe(200);
      expect(await usedBy(key)).toBe(Number(dry.body.cost));
    });
  }

  test('a long table costs one unit per started 2,000 rows', async () => {
    const { body } = await api.ask(`/rates/history?${LONG}&format=csv&dryRun=true`);
    expect(body).toMatchObject({ cost: 3 });
  });

  test('a table from the ledger and a stream report a minimum', async () => {
    const table = await api.ask(`/rates/history?${LONG}&asOf=2024-05-15&format=csv&dryRun=true`);
    const stream = await api.ask('/rates/stream?symbols=XAU&dryRun=true');
    for (const { body } of [table, stream]) expect(body).toMatchObject({ cost: 1, exact: false });
    expect(stream.headers.get('content-type')).toStartWith('application/json');
  });

  test('a request that would be a 304 costs nothing', async () => {
    const etag = (await api.ask(LATEST)).headers.get('etag')!;
    const headers = { 'if-none-match': etag };
    expect((await api.ask(`${LATEST}&dryRun=true`, { headers })).body.cost).toBe(0);
  });

  test('a paid market view costs nothing', async () => {
    const visit = (await api.ask('/market')).headers.get('openpit-visit');
    expect((await api.ask(`/market?visit=${visit}&dryRun=true`)).body.cost).toBe(0);
  });

  test('a request over the quota would not be admitted, and the report says why', async () => {
    const key = await api.service.key('two');
    const long = await api.ask(`/rates/history?${LONG}&format=csv&dryRun=true`, { key });
    expect(long.body).toMatchObject({ cost: 3, admitted: false, remaining: 2, code: 'quota_exhausted' });
    const short = await api.ask(`/rates/history?${LONG}&dryRun=true`, { key });
    expect(short.body).toMatchObject({ cost: 1, admitted: true, remaining: 2 });
    await api.ask(LATEST, { key });
    await api.ask(LATEST, { key });
    const { status, body } = await api.ask(`${LATEST}&dryRun=true`, { key });
    const refused = await api.ask(LATEST, { key });
    expect(status).toBe(200);
    expect(SCHEMAS.DryRun.parse(body)).toMatchObject({
      admitted: false,
      remaining: 0,
      code: 'quota_exhausted',
      message: String(refused.body.message),
    });
    expect(await usedBy(key)).toBe(2);
  });

  test('a request that would be refused is refused in the same way', async () => {
    expectRefusal(await api.ask('/rates/latest?symbols=NOPE&dryRun=true'), 404, 'unknown_symbol');
    expectRefusal(await api.ask('/rates/latest?dryRun=true'), 400, 'missing_parameter');
    expectRefusal(await api.ask('/rates/latest?symbols=ZINC&dryRun=true'), 404, 'no_data');
    const v2 = await api.ask('/v2/rates/latest?symbols=NOPE&dryRun=true');
    expect(v2.body).toMatchObject({ error: 'SYMBOL_NOT_FOUND', path: '/v2/rates/latest' });
  });

  test('every version has it; /v3 lists the unknown symbols of a partial answer', async () => {
    for (const version of ['/v1', '/v2', '/v3']) {
      expect((await api.ask(`${version}${LATEST}&dryRun=true`)).body).toMatchObject({
        success: true,
        cost: 1,
      });
    }
    const { body } = await api.ask('/v3/rates/latest?symbols=XAU,NOPE&dryRun=true');
    expect(Object.keys(SCHEMAS.DryRun.parse(body).unresolved!)).toEqual(['NOPE']);
  });

  test('a value that is neither true nor false is refused rather than charged', async () => {
    const key = await api.service.key('basic');
    for (const value of ['1', 'yes']) {
      for (const path of [LATEST, '/market?', '/rates/stream?symbols=XAU']) {
        const reply = await api.ask(`${path}&dryRun=${value}`, { key });
        expect(expectRefusal(reply, 400, 'invalid_parameter')).toContain('"dryRun" must be true or false');
      }
    }
    expect(await usedBy(key)).toBe(0);
  });

  test('the answer of a dry run is never cached: the same URL repeated still has no prices', async () => {
    for (let i = 0; i < 4; i++) {
      const { body } = await api.ask(`${LATEST}&dryRun=true`);
      expect(body).toMatchObject({ dryRun: true });
      expect(body.rates).toBeUndefined();
    }
    const { body } = await api.ask(`${LATEST}&dryRun=false`);
    expect((body as { rates: Json }).rates).toEqual({ XAU: 2000 });
  });

  test('a Parquet file that is paid for costs nothing, for as long as it is free to fetch again', async () => {
    const key = await api.service.key('basic');
    const daily = `/rates/history?${LONG}&format=parquet`;
    const ofLedger = `/rates/history?${LONG}&format=parquet&asOf=2024-05-15`;
    for (const path of [daily, ofLedger]) {
      const cost = async (url = `${path}&dryRun=true`, headers = {}) =>
        (await api.ask(url, { key, headers })).body.cost;
      expect(await cost()).toBeGreaterThan(0);
      const before = await usedBy(key);
      expect((await api.ask(path, { key })).status).toBe(200);
      const paid = await usedBy(key);
      expect(paid).toBeGreaterThan(before);
      expect(await cost()).toBe(0);
      expect(await cost(path.replace('?', '?dryRun=true&'))).toBe(0);
      expect((await api.ask(path, { key })).status).toBe(200);
      expect(await usedBy(key)).toBe(paid);
      api.service.clock.time += 120_000;
      expect(await cost(undefined, { range: 'bytes=0-9' })).toBe(0);
    }
    // The whole file is looked up by its content: an unchanged one is free, and reading the ledger is not.
    const costOf = async (path: string) => (await api.ask(`${path}&dryRun=true`, { key })).body.cost;
    expect([await costOf(daily), await costOf(ofLedger)]).toEqual([0, 1]);
    api.service.clock.time += 600_000;
    expect(await costOf(daily)).toBe(3);
  });

  test('a Parquet file that is paid for costs nothing, also if its URL has no other parameter', async () => {
    const key = await api.service.key('basic');
    expect((await api.ask('/symbols.parquet', { key })).status).toBe(200);
    expect((await api.ask('/symbols.parquet?dryRun=true', { key })).body.cost).toBe(0);
  });

  test('it has no effect on what is free, and the response says so', async () => {
    const { body } = await api.ask('/usage?dryRun=true');
    expect(body.warnings).toEqual(['The parameter "dryRun" has no effect on /usage.']);
    const typo = await api.ask(`${LATEST}&dry_run=true`);
    expect(typo.body.warnings).toEqual(['The parameter "dry_run" has no effect. Did you mean "dryRun"?']);
  });
});

onEachEngine('a dry run with the key of the page', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_PUBLIC_PLAN: 'free' } }, async ({ service }) => {
    await service.setPlan({ name: 'free', burstPerSecond: 1_000 });
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    const { given } = (await api.ask('/console/config', { key: '' })).body as { given: { key: string } };
    api.key = given.key;
  });

  test('reports what is left to the address', async () => {
    expect((await api.ask(`${LATEST}&dryRun=true`)).body).toMatchObject({
      cost: 1,
      admitted: true,
      remaining: 120,
    });
    for (let i = 0; i < 120; i++) await api.ask(LATEST);
    const { body } = await api.ask(`${LATEST}&dryRun=true`);
    expect(SCHEMAS.DryRun.parse(body)).toMatchObject({ admitted: false, remaining: 0, code: 'rate_limited' });
  });
});
