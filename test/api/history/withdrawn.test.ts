import { expect, test } from 'bun:test';
import { Closer } from '../../../src/feeds/close/closer.ts';
import { Pruner } from '../../../src/feeds/close/pruner.ts';
import { MS_PER_DAY, parseDay } from '../../../src/market/day.ts';
import { apiOn, type Json } from '../../support/api.ts';
import { EventReader } from '../../support/http/events.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const at = (text: string) => Date.parse(text);

onEachEngine('a withdrawn day', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const days = { '2024-05-07': 2300, '2024-05-08': 231_000, '2024-05-09': 2320, '2024-05-10': 2330 };
    for (const code of ['XAU', 'XAG', 'PL', 'PA']) {
      await service.publish(code, days, 'feed', at('2024-05-11T00:00:00Z'));
    }
  });
  /** Loads all history first, so that the withdrawal reaches a board that has it. */
  const withdraw = async (code: string, dates: string[], recordedAt = at('2024-05-13T12:00:00Z')) => {
    const { service } = api;
    await api.ask(`/rates/history?symbols=${code}&startDate=2024-01-01&endDate=2024-05-15`);
    const symbol = (await service.ledger.symbols.list()).find((one) => one.code === code)!;
    const withdrawn = await service.ledger.withdrawals.withdraw(
      dates.map((date) => ({ symbolId: symbol.id, day: parseDay(date)! })),
      { by: 'source', reason: 'feed run 2: withdrawn', recordedAt },
    );
    await service.core.follow();
    return withdrawn;
  };
  const ratesOf = async (path: string) => (await api.ask(path)).body.rates as Record<string, Json>;

  test('is absent from every response', async () => {
    expect(await withdraw('XAU', ['2024-05-08'])).toMatchObject([{ close: 231_000 }]);
    const range = 'startDate=2024-05-07&endDate=2024-05-10';
    const historical = await api.ask('/rates/historical?symbols=XAU&date=2024-05-08');
    expect(historical.body).toMatchObject({
      rates: { XAU: { close: 2300 } },
      metadata: { XAU: { date: '2024-05-07' } },
    });
    const series = await ratesOf(`/rates/time-series?symbols=XAU&${range}`);
    expect(Object.keys(series)).toEqual(['2024-05-07', '2024-05-09', '2024-05-10']);
    const change = await ratesOf('/rates/fluctuation?symbols=XAU&startDate=2024-05-08&endDate=2024-05-10');
    expect(change.XAU).toMatchObject({ startRate: 2300, endRate: 2330 });
    const year = await api.ask(`/rates/history?symbols=XAU&${range}&interval=year`);
    expect(year.body.rates).toMatchObject([{ high: 2330, low: 2300 }]);
    const csv = await api.ask(`/rates/history?symbols=XAU&${range}&format=csv`);
    expect(csv.text).not.toContain('231000');
  });

  test('is still found by asOf before the withdrawal, and both versions are listed', async () => {
    await withdraw('PL', ['2024-05-08']);
    const path = '/rates/historical?symbols=PL&date=2024-05-08';
    expect((await ratesOf(`${path}&asOf=2024-05-12`)).PL).toMatchObject({ close: 231_000 });
    expect((await ratesOf(`${path}&asOf=2024-05-14`)).PL).toMatchObject({ close: 2300 });
    const versions = (await ratesOf('/rates/revisions?symbols=PL&date=2024-05-08')).PL;
    expect(versions).toMatchObject([
      { close: 231_000, source: 'feed', reason: null },
      {
        withdrawn: true,
        source: 'feed',
        reason: 'feed run 2: withdrawn',
        recordedAt: '2024-05-13T12:00:00.000Z',
      },
    ]);
    expect(versions).not.toMatchObject([{}, { close: expect.anything() }]);
    const range = await ratesOf('/rates/revisions?symbols=PL&startDate=2024-05-01&endDate=2024-05-15');
    expect(Object.keys(range)).toEqual(['2024-05-08']);
    const csv = await api.ask('/rates/revisions?symbols=PL&date=2024-05-08&format=csv');
    const [, first, second] = csv.text.trim().split('\r\n');
    expect(first).toMatch(/^2024-05-08,PL,\d+,231000,.*,false$/);
    expect(second).toMatch(/^2024-05-08,PL,\d+,,,,,T\.oz,USD,feed,2024-05-13T12:00:00.000Z,.*,true$/);
    const ndjson = await api.ask('/rates/revisions?symbols=PL&date=2024-05-08&format=ndjson');
    const records = ndjson.text.trim().split('\n');
    expect(records.map((line) => JSON.parse(line).withdrawn)).toEqual([false, true]);
  });

  test('at the end or the start moves the latest price and the dates of the symbol', async () => {
    const facts = async () => {
      const list = (await api.ask('/symbols')).body.symbols as Json[];
      const { firstDate, lastDate } = list.find((one) => one.symbol === 'XAG')!;
      return { firstDate, lastDate, latest: (await ratesOf('/rates/latest?symbols=XAG'))?.XAG };
    };
    expect(await facts()).toMatchObject({ firstDate: '2024-05-07', lastDate: '2024-05-10', latest: 2330 });
    await withdraw('XAG', ['2024-05-10']);
    expect(await facts()).toMatchObject({ firstDate: '2024-05-07', lastDate: '2024-05-09', latest: 2320 });
    await withdraw('XAG', ['2024-05-07', '2024-05-08']);
    expect(await facts()).toMatchObject({ firstDate: '2024-05-09', lastDate: '2024-05-09', latest: 2320 });
    await withdraw('XAG', ['2024-05-09']);
    expect(await facts()).toMatchObject({ firstDate: null, lastDate: null, latest: undefined });
    expect((await api.ask('/rates/latest?symbols=XAG')).status).toBe(404);
    const versions = (await ratesOf('/rates/revisions?symbols=XAG&date=2024-05-09')).XAG;
    expect(versions).toHaveLength(2);
    await api.service.publish('XAG', { '2024-05-09': 28 });
    expect(await facts()).toMatchObject({ firstDate: '2024-05-09', lastDate: '2024-05-09', latest: 28 });
  });

  test('has the ticks that are pushed after the withdrawal, also as of then, and not those from before', async () => {
    const { service } = api;
    const date = '2024-05-14';
    const made = (time: string) => at(`${date}T${time}:00Z`);
    await service.tick('ETHANOL', 900, made('10:00'));
    await service.publish('ETHANOL', { [date]: 1_000 }, 'feed', made('22:00'));
    await withdraw('ETHANOL', [date], made('23:00'));
    const path = `/rates/historical?symbols=ETHANOL&date=${date}`;
    expect((await api.ask(path)).status).toBe(404);
    await service.tick('ETHANOL', 950, made('09:00'), made('23:30'));
    expect((await ratesOf(path)).ETHANOL).toEqual({ open: 950, high: 950, low: 950, close: 950 });
    const asOf = async (time: string) => (await ratesOf(`${path}&asOf=${date}T${time}:00Z`))?.ETHANOL;
    expect([await asOf('22:30'), await asOf('23:10'), await asOf('23:40')]).toMatchObject([
      { close: 1_000 },
      undefined,
      { close: 950 },
    ] as never);
    const minutes = async () => {
      const range = `startDate=${date}&endDate=${date}&interval=minute`;
      return (await api.ask(`/rates/history?symbols=ETHANOL&${range}`)).body.rates;
    };
    const shown = await minutes();
    expect(shown).toMatchObject([{ close: 950 }]);
    await new Closer(service.ledger).close(service.clock.time);
    await new Pruner(service.ledger).prune(service.clock.time + 10 * MS_PER_DAY); // stores them, and deletes the ticks
    await service.core.follow();
    expect(await minutes()).toEqual(shown);
  });

  test('is sent to streams: the price before it is the newest again', async () => {
    const url = `${api.service.url}/rates/stream?symbols=PA`;
    const stream = await EventReader.open(url, { 'x-api-key': api.key });
    expect((await stream.next())?.data).toMatchObject({ rate: 2330 });
    await withdraw('PA', ['2024-05-10']);
    expect((await stream.next())?.data).toMatchObject({ rate: 2320, date: '2024-05-09' });
    await stream.close();
  });

  test('during its session, is withdrawn from a delayed plan after the delay', async () => {
    const { service } = api;
    await service.setPlan({ name: 'hour', delaySeconds: 3600 });
    const hour = await service.key('hour');
    await service.publish('HG-FUT', { '2024-05-14': 4, '2024-05-15': 5 }, 'feed', NOON - 120 * MINUTE);
    const latest = async (key: string) =>
      ((await api.ask('/rates/latest?symbols=HG-FUT', { key })).body.rates as Json)['HG-FUT'];
    expect([await latest(api.key), await latest(hour)]).toEqual([5, 5]);
    await withdraw('HG-FUT', ['2024-05-15'], service.clock.time);
    expect([await latest(api.key), await latest(hour)]).toEqual([4, 5]);
    service.clock.time += 59 * MINUTE;
    expect([await latest(api.key), await latest(hour)]).toEqual([4, 5]);
    service.clock.time += 2 * MINUTE;
    expect([await latest(api.key), await latest(hour)]).toEqual([4, 4]);
  });
});
