import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { intervalPieces } from '../../../src/api/history/interval-pieces.ts';
import { intervalTable } from '../../../src/api/history/interval-table.ts';
import { AVERAGES } from '../../../src/api/history/row-fields.ts';
import type { Reply } from '../../../src/http/message/reply.ts';
import { parseDay, printDay } from '../../../src/market/day.ts';
import { INTERVALS, intervalStart } from '../../../src/market/interval.ts';
import { apiOn } from '../../support/api.ts';
import { rawRequest } from '../../support/http/raw-download.ts';
import { onBunServe } from '../../support/http-server.ts';
import { onEachEngine } from '../../support/ledger.ts';

type Reader = AsyncIterator<Uint8Array> & AsyncIterable<Uint8Array>;

const CODES = ['XAU', 'XAG', 'PL'] as const;
const FIRST = parseDay('2004-05-15')!;
const LAST = parseDay('2024-05-14')!;
const SPAN = 'startDate=2004-05-15&endDate=2024-05-14';

function daily(gap: number): Record<string, number> {
  const bars: Record<string, number> = {};
  for (let day = FIRST; day <= LAST; day++) if (day % gap !== 0) bars[printDay(day)] = day / 8;
  return bars;
}

onEachEngine('a streamed table', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    for (const [i, code] of CODES.entries()) await service.publish(code, daily(5 + i));
  });

  /** Opens a download as the HTTP server does. */
  async function open(path: string): Promise<Reader> {
    const headers = new Headers({ 'x-api-key': api.key });
    const request = {
      method: 'GET',
      url: path,
      headers,
      bytes: async () => new Uint8Array(),
      text: async () => '',
    };
    const { status, body } = (await api.service.core.api.handle(request, () => '127.0.0.1')) as Reply;
    expect(status).toBe(200);
    return (body as ReadableStream<Uint8Array>)[Symbol.asyncIterator]() as Reader;
  }

  async function rest(reader: Reader): Promise<string> {
    let text = '';
    for await (const chunk of reader) text += Buffer.from(chunk).toString();
    return text;
  }

  test('shows prices as of its start, even if others are published meanwhile', async () => {
    const { service } = api;
    const path = `/rates/history?symbols=${CODES}&${SPAN}&format=csv`;
    const { text: before } = await api.ask(path);
    const reader = await open(path);
    const start = Buffer.from((await reader.next()).value).toString();
    await service.publish('XAU', { '2024-05-13': 1, '2004-05-17': 2 });
    await service.publish('XAG', { [printDay(LAST - (LAST % 6))]: 3 }); // a day without a bar so far
    await service.publish('PL', daily(2)); // enough to reload the series
    await service.tick('PL', 4);
    await service.setPlan({ name: 'late', delaySeconds: 777 });
    await api.ask(`/rates/latest?symbols=${CODES}`, { key: await service.key('late') }); // another view
    expect(start + (await rest(reader))).toBe(before);
    expect((await api.ask(path)).text).not.toBe(before);
  });

  test('is produced only as fast as the client reads it', async () => {
    const { board } = api.service.core;
    let looked = 0;
    const original = board.sourceName;
    board.sourceName = (id) => {
      looked++;
      return original.call(board, id);
    };
    try {
      const reader = await open(`/rates/history?symbols=${CODES}&${SPAN}&format=ndjson`);
      await reader.next();
      const first = looked;
      for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
      expect(looked).toBe(first);
      expect(first).toBeLessThan(2_000);
      await reader.return!();
      expect(looked).toBe(first);
    } finally {
      board.sourceName = original;
    }
  });

  test.skipIf(onBunServe)(
    'that fails midway aborts the connection, so that it does not look complete',
    async () => {
      const { board } = api.service.core;
      const original = board.sourceName;
      let rows = 0;
      board.sourceName = (id) => {
        if (++rows > 5_000) throw new Error('the disk is on fire');
        return original.call(board, id);
      };
      try {
        // Rows with a transform are written cell by cell, so each of them reads the name of its source.
        const query = `symbols=${CODES}&${SPAN}&transform=change&format=ndjson`;
        const path = `/rates/history?${query}&apiKey=${api.key}`;
        const cut = await rawRequest(api.service.url, path);
        expect(cut.head).toContain('200 OK');
        expect(cut.isComplete).toBe(false);
        rows = 0;
        const gzipped = await rawRequest(api.service.url, path, { headers: 'Accept-Encoding: gzip\r\n' });
        expect(gzipped.isComplete).toBe(false);
        rows = 0;
        const old = await rawRequest(api.service.url, path, { version: '1.0' });
        expect(old.head).toContain('500 Internal');
        rows = 0;
        await expect(api.service.get(path).then((response) => response.text())).rejects.toThrow();
        expect(api.service.logLines.join('\n')).toContain('the disk is on fire');
      } finally {
        board.sourceName = original;
      }
    },
  );

  test('has as many rows as were counted, from any cursor and for any interval', async () => {
    const { board } = api.service.core;
    const symbols = CODES.map((code) => ({ code, series: board.catalog.find(code)! }));
    await board.ready(
      symbols.map(({ series }) => series),
      'all',
      api.service.clock.now(),
    );
    const prices = board.view(0);
    const property = fc.asyncProperty(
      fc.constantFrom(...INTERVALS),
      fc.integer({ min: FIRST - 100, max: LAST }),
      fc.integer({ min: 0, max: LAST - FIRST + 300 }),
      fc.integer({ min: -400, max: 8_000 }),
      fc.nat(4),
      async (interval, first, days, offset, symbolIndex) => {
        const span = { first, last: first + days, interval };
        const day = intervalStart(interval, first + offset);
        const from = { day, symbolIndex };
        const options = { board, symbols, prices, span, from, fields: AVERAGES, unitsOf: () => 1 };
        const table = intervalTable(options);
        const pieces = [...intervalPieces(options.from, symbols, prices, span)];
        const rows = pieces.flatMap((piece) => piece.rows);
        const expected = 'rows' in table ? table.rows.length : await table.count();
        expect(rows).toHaveLength(expected);
        expect(rows).toEqual(rows.toSorted((a, b) => a.day - b.day || a.symbolIndex - b.symbolIndex));
        for (const { bars } of pieces) expect(bars).toBeLessThan(1_000);
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  test('of /rates/time-series is complete, and costs one unit', async () => {
    await api.service.setPlan({ name: 'wide', maxSpanDays: 10_000, quota: 10 });
    const key = await api.service.key('wide');
    const path = `/rates/time-series?symbols=${CODES}&${SPAN}`;
    const { body } = await api.ask(path, { key });
    const days = Object.entries(body.rates as Record<string, Record<string, { close: number }>>);
    const expected = days.flatMap(([date, rates]) =>
      Object.entries(rates).map(([code, { close }]) => [date, code, String(close)]),
    );
    const { text } = await api.ask(`${path}&format=csv`, { key });
    const rows = text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(rows.map(([date, code, , , , close]) => [date, code, close])).toEqual(expected);
    expect((await api.ask('/usage', { key })).body.used).toBe(2);
  });
});
