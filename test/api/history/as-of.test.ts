import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { printDay, utcDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const at = (text: string) => Date.parse(text);
const DAY = '/rates/historical?symbols=XAU&date=2024-05-08';
const RANGE = 'startDate=2024-05-07&endDate=2024-05-08';

onEachEngine('asOf=', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const publish = (price: number, time: string, source = 'test') =>
      service.publish('XAU', { '2024-05-08': price }, source, at(time));
    await service.publish('XAU', { '2024-05-07': 2300 }, 'test', at('2024-05-07T22:00:00Z'));
    await publish(2310, '2024-05-08T22:00:00Z');
    await publish(2311, '2024-05-10T09:30:00Z', 'exchange');
    await publish(2312, '2024-05-13T12:00:00Z');
  });
  const closeAsOf = async (asOf: string, key = api.key) => {
    const { body } = await api.ask(`${DAY}&asOf=${encodeURIComponent(asOf)}`, { key });
    return (body.rates as { XAU: { close: number } } | undefined)?.XAU.close;
  };

  test('before and after a correction gives both values', async () => {
    expect(await closeAsOf('2024-05-09')).toBe(2310);
    expect(await closeAsOf('2024-05-10')).toBe(2311); // a day means its end
    expect(await closeAsOf('2024-05-12')).toBe(2311);
    expect(await closeAsOf('2024-05-14')).toBe(2312);
    expect(await closeAsOf('2024-05-15')).toBe(2312); // today
  });

  test('a time may have any zone, and defaults to UTC', async () => {
    expect(await closeAsOf('2024-05-10T09:29:59Z')).toBe(2310);
    expect(await closeAsOf('2024-05-10T09:30:00Z')).toBe(2311);
    expect(await closeAsOf('2024-05-10T09:29:59.999Z')).toBe(2310);
    expect(await closeAsOf('2024-05-10T09:29')).toBe(2310);
    expect(await closeAsOf('2024-05-10T11:30:00+02:00')).toBe(2311);
    expect(await closeAsOf('2024-05-10T11:29:00+0200')).toBe(2310);
    expect(await closeAsOf('2024-05-10T04:30:00-05:00')).toBe(2311);
    const unescaped = await api.ask(`${DAY}&asOf=2024-05-10T11:30:00+02:00`);
    expect(unescaped.body.rates).toMatchObject({ XAU: { close: 2311 } });
  });

  test('metadata has the source as of then', async () => {
    const sourceAsOf = async (asOf: string) => (await api.ask(`${DAY}&asOf=${asOf}`)).body.metadata;
    expect(await sourceAsOf('2024-05-09')).toMatchObject({ XAU: { source: 'test' } });
    expect(await sourceAsOf('2024-05-11')).toMatchObject({ XAU: { source: 'exchange' } });
  });

  test('time-series and fluctuation accept it too', async () => {
    const series = (await api.ask(`/rates/time-series?symbols=XAU&${RANGE}&asOf=2024-05-10`)).body.rates;
    expect((series as Record<string, Json>)['2024-05-08']).toMatchObject({ XAU: { close: 2311 } });
    const change = (await api.ask(`/rates/fluctuation?symbols=XAU&${RANGE}&asOf=2024-05-09`)).body.rates;
    expect(change).toMatchObject({ XAU: { startRate: 2300, endRate: 2310, change: 10 } });
  });

  test('prices not recorded yet are no_data, and a later day is in the future', async () => {
    expect(await closeAsOf('2024-05-08T12:00:00Z')).toBe(2300); // the day before it
    expectRefusal(await api.ask(`${DAY}&asOf=2024-05-06`), 400, 'date_in_future');
    const before = '/rates/historical?symbols=XAU&date=2024-05-06&asOf=2024-05-06';
    expect(expectRefusal(await api.ask(before), 404, 'no_data')).toContain('it has no data yet');
    const empty = await api.ask(
      '/rates/time-series?symbols=XAU&startDate=2024-05-01&endDate=2024-05-06&asOf=2024-05-06',
    );
    expect(empty.body.rates).toEqual({});
  });

  test('a delayed plan sees what it would have seen then', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    await service.publish('PL', { '2024-05-09': 990 }, 'test', at('2024-05-09T22:00:00Z'));
    // The session of 05-10 ends at 21:00 UTC; the bar was recorded a minute later.
    await service.publish('PL', { '2024-05-10': 1000 }, 'test', at('2024-05-10T21:01:00Z'));
    const path = '/rates/historical?symbols=PL&date=2024-05-10';
    const close = async (asOf: string, key: string) => {
      const { body } = await api.ask(`${path}&asOf=${asOf}`, { key });
      return (body.rates as { PL: { close: number } }).PL.close;
    };
    expect(await close('2024-05-10T21:30:00Z', api.key)).toBe(1000);
    expect(await close('2024-05-10T21:30:00Z', hour)).toBe(990);
    expect(await close('2024-05-10T21:59:59Z', hour)).toBe(990);
    expect(await close('2024-05-10T22:00:00Z', hour)).toBe(1000);
    expect(await close('2024-05-10T21:00:59Z', api.key)).toBe(990); // not recorded yet
  });

  test('the future is refused, and so is anything that is neither a day nor a time', async () => {
    for (const asOf of ['2024-05-16', '2024-05-15T16:00:01Z', '2199-12-31']) {
      expectRefusal(await api.ask(`${DAY}&asOf=${asOf}`), 400, 'date_in_future');
    }
    const later = expectRefusal(await api.ask(`${DAY}&asOf=2024-05-15T16:00:01Z`), 400, 'date_in_future');
    expect(later).toContain('It is 2024-05-15T16:00:00Z; ask for that time or an earlier one.');
    for (const asOf of [
      'now',
      '2024-02-30',
      '2024-05-10T25:00Z',
      '2024-05-10T10:60',
      '1715760000',
      '2024-05-10T10',
      '1899-12-31',
    ]) {
      const message = expectRefusal(await api.ask(`${DAY}&asOf=${asOf}`), 400, 'invalid_as_of');
      expect(message).toContain('must be a day that exists');
      expect(message).toContain('from 1900-01-01 to 2199-12-31');
    }
    expectRefusal(await api.ask(`${DAY}&asOf=2024-05-10&asOf=2024-05-11`), 400, 'repeated_parameter');
  });

  test('the past has its own tag and may be cached for a day; today may not', async () => {
    const past = await api.ask(`${DAY}&asOf=2024-05-10`);
    expect(past.headers.get('cache-control')).toBe('private, max-age=86400');
    const etag = past.headers.get('etag')!;
    expect(etag).not.toBe((await api.ask(DAY)).headers.get('etag'));
    const again = await api.ask(`${DAY}&asOf=2024-05-10`, { headers: { 'if-none-match': etag } });
    expect(again.status).toBe(304);
    for (const asOf of ['2024-05-15', '2024-05-15T16:00:00Z']) {
      expect((await api.ask(`${DAY}&asOf=${asOf}`)).headers.get('cache-control')).toBe('private, no-cache');
    }
  });

  test('a later correction does not change it', async () => {
    const path = '/rates/historical?symbols=PA&date=2024-05-08';
    await api.service.publish('PA', { '2024-05-08': 950 }, 'test', at('2024-05-09T00:00:00Z'));
    const before = await api.ask(`${path}&asOf=2024-05-09`);
    await api.service.publish('PA', { '2024-05-08': 960 });
    const after = await api.ask(`${path}&asOf=2024-05-09`);
    expect(after.text).toBe(before.text);
    expect(after.headers.get('etag')).toBe(before.headers.get('etag'));
    expect((await api.ask(path)).body.rates).toMatchObject({ PA: { close: 960 } });
  });

  test('exchange rates are as of then too', async () => {
    const { service } = api;
    await service.publish('EUR/USD', { '2024-05-08': 1.07 }, 'ecb', at('2024-05-08T15:00:00Z'));
    await service.publish('EUR/USD', { '2024-05-08': 1.08 }, 'ecb', at('2024-05-11T15:00:00Z'));
    const factor = async (asOf: string) => {
      const { metadata } = (await api.ask(`${DAY}&quote=EUR&asOf=${asOf}`)).body;
      return (metadata as { XAU: { factor: number } }).XAU.factor;
    };
    expect(await factor('2024-05-09')).toBeCloseTo(1 / 1.07, 10);
    expect(await factor('2024-05-12')).toBeCloseTo(1 / 1.08, 10);
  });

  test('a symbol starts on its first day with ticks, even if only a later day has a bar', async () => {
    const { service } = api;
    service.clock.time = at('2024-05-14T12:00:00Z');
    await service.tick('NICKEL-SPOT', 18_000);
    service.clock.time = at('2024-05-16T12:00:00Z');
    await service.publish('NICKEL-SPOT', { '2024-05-15': 18_100 });
    const path = '/rates/historical?symbols=NICKEL-SPOT&date=2024-05-08';
    const now = expectRefusal(await api.ask(path), 404, 'no_data');
    expect(now).toContain('its data starts on 2024-05-14');
    expect(expectRefusal(await api.ask(`${path}&asOf=2024-05-16T12:00:00Z`), 404, 'no_data')).toBe(now);
    service.clock.time = NOON;
  });

  const step = fc.record({
    gapMinutes: fc.integer({ min: 0, max: 600 }),
    price: fc.integer({ min: -50, max: 5000 }),
    daysBack: fc.constantFrom(0, 1, 2, 'tick' as const),
  });

  test('as of now it equals the plain response for every plan; as of a past time, the plain response of that time', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600, quota: 1e9 });
    const keys = [api.key, await service.key('hour')];
    const paths = (code: string, today: number) => [
      `/rates/historical?symbols=${code}&date=${printDay(today)}`,
      `/rates/historical?symbols=${code}&date=${printDay(today - 1)}`,
      `/rates/time-series?symbols=${code}&startDate=${printDay(today - 5)}&endDate=${printDay(today)}`,
      `/rates/fluctuation?symbols=${code}&startDate=${printDay(today - 2)}&endDate=${printDay(today)}`,
    ];
    const answers = async (code: string, time: number, asOf: string) => {
      const all: string[] = [];
      for (const key of keys) {
        for (const path of paths(code, utcDay(time))) all.push((await api.ask(path + asOf, { key })).text);
      }
      return all;
    };
    const codes = ['TIN', 'COAL', 'CT', 'CC'];
    let turn = 0;
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 5 }), async (steps) => {
      const code = codes[turn++ % codes.length]!;
      service.clock.time += 1;
      let then: { time: number; said: string[] } | undefined;
      for (const { gapMinutes, price, daysBack } of steps) {
        service.clock.time += gapMinutes * MINUTE;
        const { time } = service.clock;
        if (daysBack === 'tick') await service.tick(code, price);
        else await service.publish(code, { [printDay(utcDay(time) - daysBack)]: price });
        const said = await answers(code, time, '');
        expect(await answers(code, time, `&asOf=${new Date(time).toISOString()}`)).toEqual(said);
        then ??= { time, said };
        service.clock.time += 1;
      }
      const asOf = `&asOf=${new Date(then!.time).toISOString()}`;
      expect(await answers(code, then!.time, asOf)).toEqual(then!.said);
    });
    await fc.assert(property, { numRuns: 12 });
    service.clock.time = NOON;
  });
});

onEachEngine('asOf= with simulated prices', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_DEMO: 'true' } });

  test('before the first real price it returns the simulated ones', async () => {
    const { service } = api;
    await service.publish('ZINC', { '2024-05-08': 2900 }, 'simulated', at('2024-05-08T23:00:00Z'));
    await service.publish('ZINC', { '2024-05-08': 2950 }, 'exchange', at('2024-05-13T10:00:00Z'));
    const path = '/rates/historical?symbols=ZINC&date=2024-05-08';
    const rates = async (rest: string) => (await api.ask(path + rest)).body.rates;
    expect(await rates('&asOf=2024-05-10')).toMatchObject({ ZINC: { close: 2900 } });
    expect(await rates('&asOf=2024-05-13')).toMatchObject({ ZINC: { close: 2950 } });
  });
});
