import { expect, test } from 'bun:test';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { apiOn } from '../../support/api.ts';
import { rawRequest } from '../../support/http/raw-download.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

const FIRST = parseDay('1984-05-15')!;
const LAST = parseDay('2024-05-14')!;
const SPAN = 'startDate=1984-05-15&endDate=2024-05-14';

function fortyYears(): Record<string, number> {
  const bars: Record<string, number> = {};
  for (let day = FIRST; day <= LAST; day++) bars[printDay(day)] = day / 8;
  return bars;
}

onEachEngine('a table that is sent from rendered pages', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const code of ['XAU', 'XAG', 'PL']) await service.publish(code, fortyYears());
  });

  /** Makes rendering fail from a page on: each page reads the name of its source once. */
  async function failingFrom<T>(page: number, act: (restart: () => void) => Promise<T>): Promise<T> {
    const { board } = api.service.core;
    const original = board.sourceName;
    let pages = 0;
    board.sourceName = (id) => {
      if (++pages > page) throw new Error('a page cannot be rendered');
      return original.call(board, id);
    };
    try {
      return await act(() => {
        pages = 0;
      });
    } finally {
      board.sourceName = original;
    }
  }

  test.skipIf(onBunServe)(
    'aborts the connection when a page in the middle fails, and is complete when it is asked for again',
    async () => {
      for (const symbols of ['XAU', 'XAG,PL']) {
        const rows = (LAST - FIRST + 1) * symbols.split(',').length;
        for (const format of ['csv', 'ndjson']) {
          const path = `/rates/history?symbols=${symbols}&${SPAN}&format=${format}&apiKey=${api.key}`;
          await failingFrom(3, async (restart) => {
            const cut = await rawRequest(api.service.url, path);
            expect([cut.head.split('\r\n')[0], cut.isComplete]).toEqual(['HTTP/1.1 200 OK', false]);
            expect(cut.body.length).toBeGreaterThan(10_000);
            restart();
            await expect(fetch(api.service.url + path).then((response) => response.text())).rejects.toThrow();
          });
          for (let round = 0; round < 3; round++) {
            const { isComplete, body } = await rawRequest(api.service.url, path);
            expect(isComplete).toBe(true);
            const lines = body.toString().trimEnd().split('\n').length - (format === 'csv' ? 1 : 0);
            expect(lines).toBe(rows);
          }
        }
      }
      expect(api.service.logLines.join('\n')).toContain('a page cannot be rendered');
    },
  );
});
