import { expect, test } from 'bun:test';
import { apiOn, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { LISTED_SIZE } from '../../support/responses/catalogue.ts';

const MORE = 700;

onEachEngine('GET /symbols of a large catalogue', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    const { ledger, board } = service.core;
    const [model] = await ledger.symbols.list();
    const more = Array.from({ length: MORE }, (_, i) => ({
      ...model!,
      code: `MORE-${i}`,
      name: `Größe ${i}`,
    }));
    await ledger.symbols.upsert(more, []);
    await board.follow(await ledger.head());
    await service.publish('XAU', { '2015-03-02': 1213.1, '2024-05-14': 2358.2 });
    await service.publish('MORE-699', { '2020-01-02': 1, '2021-01-04': 2 });
  });
  const used = async () => (await api.ask('/usage')).body.used as number;

  test('is complete, sorted, and has the dates of each symbol', async () => {
    const { body } = await api.ask('/symbols');
    const records = body.symbols as Json[];
    const codes = records.map((record) => String(record.symbol));
    expect(codes).toHaveLength(LISTED_SIZE + MORE);
    expect(codes).toEqual(codes.toSorted());
    expect(records.find((record) => record.symbol === 'MORE-699')).toMatchObject({
      name: 'Größe 699',
      firstDate: '2020-01-02',
      lastDate: '2021-01-04',
    });
    expect(records.find((record) => record.symbol === 'XAU')).toMatchObject({ lastDate: '2024-05-14' });
    expect(records.find((record) => record.symbol === 'MORE-0')).toMatchObject({ firstDate: null });
  });

  test('has the same tag for HEAD and GET, supports 304, and changes its tag when a date changes', async () => {
    const tagOf = async (method: string) => {
      const headers = { 'accept-encoding': 'identity' };
      return (await api.ask('/symbols', { method, headers })).headers.get('etag')!;
    };
    const tag = await tagOf('HEAD');
    expect(tag).toBe(await tagOf('GET'));
    expect((await api.ask('/symbols', { headers: { 'if-none-match': tag } })).status).toBe(304);
    await api.service.publish('MORE-5', { '2022-03-01': 3 });
    expect(await tagOf('HEAD')).not.toBe(tag);
  });

  test.each(['csv', 'ndjson'])('as %s it has all symbols, for one unit', async (format) => {
    const before = await used();
    const response = await api.ask(`/symbols?format=${format}`);
    const lines = response.text.trim().split('\n');
    expect(lines).toHaveLength(LISTED_SIZE + MORE + (format === 'csv' ? 1 : 0));
    expect(lines.some((line) => line.includes('MORE-699') && line.includes('2021-01-04'))).toBe(true);
    expect(await used()).toBe(before + 1);
  });
});
