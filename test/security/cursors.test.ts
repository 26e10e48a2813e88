import { expect, test } from 'bun:test';
import { printCursor } from '../../src/api/params/cursor.ts';
import { LAST_DAY, parseDay } from '../../src/market/day.ts';
import { apiOn } from '../support/api.ts';
import { onEachEngine } from '../support/ledger.ts';
import { MINUTE, NOON } from '../support/service.ts';

/** Cursors are not signed, so anybody can make one that starts before `startDate`. */
onEachEngine('a forged cursor reads nothing before the requested range', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const close of [1_200, 1_201]) await service.publish('XAU', { '2015-03-02': close });
    for (const close of [2_300, 2_301]) await service.publish('XAU', { '2024-05-13': close });
    await service.setPlan({ name: 'short', history: false });
    for (const minutes of [90, 30]) await service.tick('XAU', 2_350, NOON - minutes * MINUTE);
  });

  test('of revisions, which a plan without long history may only read for some days', async () => {
    const [first, last] = [parseDay('2024-05-01')!, parseDay('2024-05-14')!];
    const cursor = printCursor({ day: parseDay('2010-01-01')!, symbolIndex: 0 }, `XAU ${first} ${last}`);
    const range = 'symbols=XAU&startDate=2024-05-01&endDate=2024-05-14';
    const key = await api.service.key('short');
    const { status, body } = await api.ask(`/rates/revisions?${range}&cursor=${cursor}`, { key });
    expect(status).toBe(200);
    expect(Object.keys(body.rates as object)).toEqual(['2024-05-13']);
  });

  test('of minutes', async () => {
    const [start, end] = [NOON - 60 * MINUTE, NOON];
    const scope = `XAU ${start} ${end} minute "" `;
    const cursor = printCursor({ day: -999_999_999, symbolIndex: 0 }, scope);
    const times = `startDate=${new Date(start).toISOString()}&endDate=${new Date(end).toISOString()}`;
    const { status, body } = await api.ask(
      `/rates/history?symbols=XAU&interval=minute&${times}&cursor=${cursor}`,
    );
    expect(status).toBe(200);
    expect(body.rates).toMatchObject([{ date: '2024-05-15T15:30:00Z' }]);
  });

  test('of months, and looks for the close before it at most until the first one', async () => {
    const [first, last] = [parseDay('2024-05-01')!, parseDay('2024-05-14')!];
    const scope = `XAU ${first} ${last} month ${JSON.stringify({ transform: 'change', period: 1 })} `;
    const range = 'symbols=XAU&startDate=2024-05-01&endDate=2024-05-14&interval=month&transform=change';
    const { body: expected } = await api.ask(`/rates/history?${range}`);
    expect(expected.rates).toMatchObject([{ date: '2024-05-01', close: 2_301 }]);
    for (const day of [-999_999_999, parseDay('2010-01-01')!, LAST_DAY, 999_999_999]) {
      const cursor = printCursor({ day, symbolIndex: 0 }, scope);
      const { body } = await api.ask(`/rates/history?${range}&cursor=${cursor}`);
      expect(body).toEqual(expected);
    }
  });
});
