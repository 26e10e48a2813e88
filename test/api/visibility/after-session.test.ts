import { expect, test } from 'bun:test';
import { Closer } from '../../../src/feeds/close/closer.ts';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE } from '../../support/service.ts';

const HOUR = 60 * MINUTE;
/** 17:00 in New York, where trading pauses for an hour. */
const CLOSE = Date.UTC(2024, 4, 15, 21);
const TODAY = '2024-05-15';

onEachEngine('a price made after the end of its session', (engine) => {
  let quarter = '';
  const api = apiOn(engine, {}, async (own) => {
    await own.service.setPlan({ name: 'quarter', delaySeconds: 15 * 60 });
    quarter = await own.service.key('quarter');
  });

  async function closeUntil(time: number): Promise<void> {
    api.service.clock.time = time;
    await new Closer(api.service.ledger).close(time);
    await api.service.core.follow();
  }
  const ask = async (path: string, key = '') =>
    (await api.ask(path, { ...(key && { key }) })).body as { rates: Record<string, unknown> };
  const latest = async (symbol: string, key?: string) =>
    (await ask(`/rates/latest?symbols=${symbol}`, key)).rates[symbol];
  const bar = async (symbol: string, key?: string) =>
    (await ask(`/rates/historical?symbols=${symbol}&date=${TODAY}`, key)).rates[symbol];

  test.each([
    ['XAU', 'of its ticks'],
    ['XAG', 'of an exchange'],
  ])(
    'is the latest price at once, and after the delay of a plan, although the day has a bar: %s, %s',
    async (symbol, source) => {
      api.service.clock.time = CLOSE - HOUR;
      await api.service.tick(symbol, 1, CLOSE - HOUR);
      if (source === 'of an exchange')
        await api.service.publish(symbol, { [TODAY]: 1 }, 'exchange', CLOSE - 1);
      await closeUntil(CLOSE + 5_000);
      const made = CLOSE + 20 * MINUTE;
      api.service.clock.time = made;
      await api.service.tick(symbol, 2, made);
      expect(await latest(symbol)).toBe(2);
      await closeUntil(made + 10_000);
      expect([await latest(symbol), await latest(symbol, quarter)]).toEqual([2, 1]);
      await closeUntil(made + 15 * MINUTE - 1);
      expect([await latest(symbol), await latest(symbol, quarter)]).toEqual([2, 1]);
      await closeUntil(made + 15 * MINUTE);
      expect([await latest(symbol), await latest(symbol, quarter)]).toEqual([2, 2]);
    },
  );

  test('is in the bar of its day once every plan sees it', async () => {
    api.service.clock.time = CLOSE - HOUR;
    await api.service.tick('PL', 1, CLOSE - HOUR);
    await closeUntil(CLOSE + 5_000);
    const made = CLOSE + 20 * MINUTE;
    api.service.clock.time = made;
    await api.service.tick('PL', 2, made);
    await closeUntil(made + 59 * MINUTE);
    for (const key of ['', quarter]) expect(await bar('PL', key)).toMatchObject({ high: 1, close: 1 });
    await closeUntil(made + HOUR);
    for (const key of ['', quarter]) expect(await bar('PL', key)).toMatchObject({ high: 2, close: 2 });
  });

  test('stays the latest price, also after a restart, until the next session has one', async () => {
    api.service.clock.time = CLOSE - HOUR;
    await api.service.publish('PA', { [TODAY]: 1 }, 'exchange', CLOSE - HOUR);
    const made = CLOSE + 40 * MINUTE;
    api.service.clock.time = made;
    await api.service.tick('PA', 2, made);
    api.service.clock.time = made + 3 * HOUR;
    expect([await latest('PA'), await latest('PA', quarter)]).toEqual([2, 2]);
    api.service.core.board.catalog.find('PA')!.reset(); // as after a restart
    expect([await latest('PA'), await latest('PA', quarter)]).toEqual([2, 2]);
    await api.service.tick('PA', 3, made + 3 * HOUR);
    expect([await latest('PA'), await latest('PA', quarter)]).toEqual([3, 2]);
  });
});
