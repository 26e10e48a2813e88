import { expect, test } from 'bun:test';
import { apiOn } from '../support/api.ts';
import { onEachEngine } from '../support/ledger.ts';
import { NOON } from '../support/service.ts';

const TOKEN = 'a-long-token-of-the-operator';
const NASTY = [
  'a","b',
  '"',
  '""',
  "'",
  '\\',
  '\\.',
  '\\N',
  ',',
  ';--',
  '$1',
  '?',
  ' ',
  'é',
  '🛢️',
  'x'.repeat(100),
];

onEachEngine('ids of pushed ticks', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_ADMIN_TOKEN: TOKEN } });
  const push = async (ids: readonly string[]) => {
    const ticks = ids.map((id, i) => ({ symbol: 'XAU', price: 2350 + i / 100, at: NOON - 60_000 + i, id }));
    const headers = { authorization: `Bearer ${TOKEN}` };
    const body = JSON.stringify({ source: 'desk', ticks });
    return (await api.ask('/admin/ticks', { method: 'POST', key: '', headers, body })).body;
  };

  test('are stored exactly, individually and in bulk, whatever they contain', async () => {
    for (const more of [0, 100]) {
      const ids = [
        ...NASTY.map((id) => `${more}${id}`.slice(0, 100)),
        ...Array.from({ length: more }, (_, i) => `id ${i}`),
      ];
      expect(await push(ids)).toMatchObject({ accepted: ids.length, refused: 0 });
      expect(await push(ids)).toMatchObject({ accepted: 0, duplicate: ids.length });
    }
  });

  test('that are not well-formed Unicode are refused, because a database may treat two of them as equal', async () => {
    expect(await push(['\ud800', '\udfff', 'good'])).toMatchObject({ accepted: 1, refused: 2 });
  });

  test('none of this caused an internal error', () => {
    expect(api.service.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
