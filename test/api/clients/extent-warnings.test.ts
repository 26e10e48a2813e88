import { expect, test } from 'bun:test';
import { apiOn } from '../../support/api.ts';
import { EventReader } from '../../support/http/events.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { symbolOf } from '../../support/ledgers.ts';
import { NOON } from '../../support/service.ts';

/** The service's clock is at noon on 2024-05-15. XAU has days, XAG has days and ticks, and CORN nothing. */
onEachEngine('warnings about the days that symbols have', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-13': 28.4, '2024-05-14': 28.5 });
    await service.tick('XAG', 28.6, NOON - 60_000);
  });
  const ENDS = 'The data of XAU ends on 2024-05-14, before this range.';
  const AFTER = 'startDate=2024-05-15&endDate=2024-05-15';

  /** The warnings in JSON, which every table has in its header as well. */
  const warningsOf = async (path: string, formats = ['csv', 'ndjson', 'parquet']) => {
    const { status, body } = await api.ask(path);
    expect([path, status]).toEqual([path, 200]);
    for (const format of formats) {
      const { headers } = await api.ask(`${path}&format=${format}`);
      const header = headers.get('openpit-warnings');
      expect([path, format, header]).toEqual([
        path,
        format,
        (body.warnings as string[] | undefined)?.join(' ') ?? null,
      ]);
    }
    return body.warnings;
  };

  test.each([
    `time-series?symbols=XAU,XAG&${AFTER}`,
    `time-series?symbols=XAU&${AFTER}&unit=g`,
    'time-series?symbols=XAU&startDate=2024-05-15&endDate=2024-06-01',
    `time-series?symbols=XAU&${AFTER}&asOf=2024-05-15T16:00:00Z`,
    `history?symbols=XAU,XAG&${AFTER}`,
    `history?symbols=XAU&${AFTER}&interval=year`,
    `history?symbols=XAU&${AFTER}&transform=change&moving=2`,
    `history?symbols=XAU&${AFTER}&asOf=2024-05-15T16:00:00Z`,
    `history?symbols=XAU,XAG&${AFTER}&interval=hour`,
  ])('/rates/%s says when the history ends', async (path) => {
    expect(await warningsOf(`/rates/${path}`)).toEqual([ENDS]);
  });

  test('so do the revisions of a range and of a day', async () => {
    expect(await warningsOf(`/rates/revisions?symbols=XAU&${AFTER}`, ['csv', 'ndjson'])).toEqual([ENDS]);
    const ofDay = await warningsOf('/rates/revisions?symbols=XAU&date=2024-05-15', ['csv', 'ndjson']);
    expect(ofDay).toEqual(['The data of XAU ends on 2024-05-14, before this day.']);
  });

  test('a formula ends on the last day that all its symbols have', async () => {
    const formula = encodeURIComponent('{XAU}/{XAG}');
    const expected = ['The data of {XAU}/{XAG} ends on 2024-05-14, before this range.'];
    expect(await warningsOf(`/rates/history?symbols=${formula}&${AFTER}`)).toEqual(expected);
    const asOf = '&asOf=2024-05-15T16:00:00Z';
    expect(await warningsOf(`/rates/history?symbols=${formula}&${AFTER}${asOf}`)).toEqual(expected);
  });

  test('a formula of symbols that have no day in common has no data, whatever the range', async () => {
    await api.service.publish('TIN', { '2020-01-02': 1 });
    await api.service.publish('ZINC', { '2022-01-03': 2 });
    for (const startDate of ['2019-12-30', '2021-01-01', '2024-01-01']) {
      for (const rest of ['', '&asOf=2024-05-15T16:00:00Z']) {
        const path = `/rates/history?symbols={TIN}-{ZINC}&startDate=${startDate}&endDate=2024-05-15${rest}`;
        expect(await warningsOf(path)).toEqual(['{TIN}-{ZINC} has no data yet.']);
      }
    }
  });

  test('a range with the last day, or with a closed day before it, has no warning', async () => {
    for (const range of [
      'startDate=2024-05-14&endDate=2024-05-15',
      'startDate=2024-05-13&endDate=2024-05-13',
    ]) {
      for (const path of ['time-series', 'history', 'revisions']) {
        expect(await warningsOf(`/rates/${path}?symbols=XAU&${range}`, ['csv'])).toBeUndefined();
      }
    }
  });

  test('asOf names the last day that was known then', async () => {
    const { service } = api;
    const { id } = await symbolOf(service.ledger, 'PL');
    const publish = (day: string, recordedAt: string) =>
      service.publish('PL', { [day]: 950 }, 'test', Date.parse(recordedAt));
    await publish('2024-05-08', '2024-05-08T23:00:00Z');
    await publish('2024-05-09', '2024-05-09T23:00:00Z');
    await publish('2024-05-10', '2024-05-13T09:00:00Z');
    const range = 'startDate=2024-05-10&endDate=2024-05-10';
    const asked = `/rates/history?symbols=PL&${range}`;
    expect(await warningsOf(`${asked}&asOf=2024-05-12`)).toEqual([
      'The data of PL ends on 2024-05-09, before this range.',
    ]);
    expect(await warningsOf(`${asked}&asOf=2024-05-14`)).toBeUndefined();
    const withdrawnAt = { by: 'operator', reason: 'wrong', recordedAt: NOON } as const;
    await service.ledger.withdrawals.withdraw(
      [{ symbolId: id, day: Date.UTC(2024, 4, 10) / 86_400_000 }],
      withdrawnAt,
    );
    await service.core.follow();
    expect(await warningsOf(asked)).toEqual(['The data of PL ends on 2024-05-09, before this range.']);
    const revisions = await api.ask('/rates/revisions?symbols=PL&date=2024-05-10');
    expect((revisions.body.rates as Record<string, unknown[]>).PL).toHaveLength(2);
    expect(revisions.body.warnings).toBeUndefined();
  });

  test('minutes and hours name the symbols without data, and those that only have days', async () => {
    const range = 'startDate=2024-05-13&endDate=2024-05-15';
    const asked = (interval: string) => `/rates/history?symbols=XAG,XAU,CORN&${range}&interval=${interval}`;
    expect(await warningsOf(asked('hour'))).toEqual([
      'XAU has no prices by the hour.',
      'CORN has no data yet.',
    ]);
    for (const interval of ['minute', '5min', '15min']) {
      expect((await api.ask(asked(interval))).body.warnings).toEqual([
        'XAU has no prices by the minute.',
        'CORN has no data yet.',
      ]);
    }
    const formula = encodeURIComponent('{XAG}/{XAU}');
    expect(await warningsOf(`/rates/history?symbols=${formula}&${range}&interval=hour`)).toEqual([
      '{XAG}/{XAU} has no prices by the hour.',
    ]);
    const before = asked('hour').replace('endDate=2024-05-15', 'endDate=2024-05-13');
    expect(await warningsOf(before)).toEqual([
      'The prices of XAG by the hour start on 2024-05-15, after this range.',
      'XAU has no prices by the hour.',
      'CORN has no data yet.',
    ]);
    const early = '/rates/history?symbols=XAG&startDate=2024-01-01&endDate=2024-01-02&interval=hour';
    expect(await warningsOf(early)).toEqual(['The data of XAG starts on 2024-05-13, after this range.']);
  });

  test('a stream and its dryRun name the symbols without data', async () => {
    const expected = ['CORN has no data yet.', '{CORN}/{XAU} has no data yet.'];
    const symbols = `XAU,CORN,${encodeURIComponent('{CORN}/{XAU}')}`;
    const stream = await EventReader.open(`${api.service.url}/rates/stream?symbols=${symbols}`, {
      'x-api-key': api.key,
    });
    const events = await stream.take(2);
    stream.close();
    expect(events).toMatchObject(expected.map((message) => ({ event: 'warning', data: { message } })));
    const { body } = await api.ask(`/rates/stream?symbols=${symbols}&dryRun=true`);
    expect(body.warnings).toEqual(expected);
  });
});
