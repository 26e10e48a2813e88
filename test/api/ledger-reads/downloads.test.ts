import { expect, spyOn, test } from 'bun:test';
import { readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ReaderPool } from '../../../src/api/ledger-reads/reader-pool.ts';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { MINUTE, NOON } from '../../support/service.ts';

const FIRST = parseDay('2010-05-15')!;
const LAST = parseDay('2024-05-14')!;
const SPAN = 'startDate=2010-05-15&endDate=2024-05-14';
const AS_OF = new Date(NOON - 30 * MINUTE).toISOString();

function daily(price: number): Record<string, number> {
  const bars: Record<string, number> = {};
  for (let day = FIRST; day <= LAST; day++) bars[printDay(day)] = price + (day % 100);
  return bars;
}

onEachEngine('a table that is read from the ledger', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', daily(1_000), 'test', NOON - 60 * MINUTE);
    await service.publish('XAU', daily(2_000), 'test', NOON - 10 * MINUTE);
  });
  const HISTORY = `/rates/history?symbols=XAU&${SPAN}&asOf=${AS_OF}`;
  const REVISIONS = `/rates/revisions?symbols=XAU&${SPAN}`;
  const DAYS = LAST - FIRST + 1;
  const rowsIn = (csv: string) => csv.trimEnd().split('\r\n').slice(1);

  test('with `asOf` is complete, and costs one unit per started 2,000 rows', async () => {
    await api.service.setPlan({ name: 'past', quota: 100 });
    const key = await api.service.key('past');
    const { status, headers, text } = await api.ask(`${HISTORY}&format=csv`, { key });
    expect([status, headers.get('link')]).toEqual([200, null]);
    const rows = rowsIn(text).map((row) => row.split(','));
    expect(rows.map(([date, , open]) => [date, Number(open)])).toEqual(Object.entries(daily(1_000)));
    expect((await api.ask('/usage', { key })).body.used).toBe(Math.ceil(DAYS / 2_000));
    const ndjson = (await api.ask(`${HISTORY}&format=ndjson`, { key })).text.trimEnd().split('\n');
    expect(ndjson.map((line) => JSON.parse(line).open)).toEqual(Object.values(daily(1_000)));
  });

  test('of /rates/revisions has all versions', async () => {
    const { text, headers } = await api.ask(`${REVISIONS}&format=csv`);
    const rows = rowsIn(text).map((row) => row.split(','));
    expect(headers.get('link')).toBeNull();
    expect(rows).toHaveLength(2 * DAYS);
    const expected = Object.keys(daily(0)).flatMap((date) => [`${date} 1`, `${date} 2`]);
    expect(rows.map(([date, , , open]) => `${date} ${open![0]}`)).toEqual(expected);
  });

  test('costs one unit for HEAD and 304, and is not read to its end when the quota is too small', async () => {
    await api.service.setPlan({ name: 'few', quota: 4 });
    const key = await api.service.key('few');
    const head = await api.ask(`${HISTORY}&format=csv`, { key, method: 'HEAD' });
    const tag = head.headers.get('etag')!;
    expect((await api.ask('/usage', { key })).body.used).toBe(1);
    const again = await api.ask(`${HISTORY}&format=csv`, { key, headers: { 'if-none-match': tag } });
    expect([again.status, again.headers.get('etag')]).toEqual([304, tag]);
    expect((await api.ask('/usage', { key })).body.used).toBe(2);
    expectRefusal(await api.ask(`${HISTORY}&format=csv`, { key }), 429, 'quota_exhausted');
    expect((await api.ask('/usage', { key })).body.used).toBe(3);
  });

  test('shows one state of the prices: if they change during the read, it starts over', async () => {
    const { service } = api;
    const path = `${REVISIONS}&format=csv`;
    const original = ReaderPool.prototype.reserve;
    let pages = 0;
    const spy = spyOn(ReaderPool.prototype, 'reserve').mockImplementation(function (
      this: ReaderPool,
      account,
    ) {
      const slot = original.call(this, account);
      return {
        release: () => slot.release(),
        read: async (request, isWanted) => {
          if (++pages === 3) await service.publish('XAU', { '2010-05-16': 3_000, '2024-05-13': 3_000 });
          return slot.read(request, isWanted);
        },
      };
    });
    try {
      const rows = rowsIn((await api.ask(path)).text);
      expect(rows).toHaveLength(2 * DAYS + 2);
      expect(rows.filter((row) => row.includes(',3000,'))).toHaveLength(2);
      expect(pages).toBeGreaterThan(Math.ceil((2 * DAYS) / 2_000) + 2);
    } finally {
      spy.mockRestore();
    }
  });

  const folderOf = () => join(api.service.config.dataDir, 'downloads');
  /** The temporary files that are open. */
  const open = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folderOf());
      } catch {
        return false;
      }
    });

  test('leaves no file open if the quota runs out while it is read', async () => {
    await api.service.setPlan({ name: 'ending', quota: 10 });
    const key = await api.service.key('ending');
    const ask = () => api.ask(`${HISTORY}&format=csv`, { key });
    const answers = await Promise.all(Array.from({ length: 6 }, ask)); // three units each, of which one is charged first
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 429, 429, 429, 429]);
    for (let i = 0; i < 100 && open().length > 0; i++) await Bun.sleep(20);
    expect(open()).toEqual([]);
  });

  test('leaves no file behind, whether it is read or not', async () => {
    const { service } = api;
    const folder = folderOf();
    await api.ask(`${HISTORY}&format=csv`);
    for (let i = 0; i < 5; i++) {
      const response = await service.get(`${HISTORY}&format=csv`, api.key);
      await response.body!.cancel();
    }
    for (let i = 0; i < 100 && open().length > 0; i++) await Bun.sleep(20); // a disconnected client is noticed on the next write
    expect(open()).toEqual([]);
    expect(readdirSync(folder)).toEqual([]);
  });
});
