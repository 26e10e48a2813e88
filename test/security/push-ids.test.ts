import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../support/api.ts';
import { onEachEngine } from '../support/ledger.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../support/operator.ts';
import { NOON } from '../support/service.ts';

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
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const push = async (ids: readonly string[]) => {
    const ticks = ids.map((id, i) => ({ symbol: 'XAU', price: 2350 + i / 100, at: NOON - 60_000 + i, id }));
    const headers = OPERATOR_HEADERS;
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

  test('that are not UTF-8 are refused: two of them would be stored as the same text', async () => {
    const headers = OPERATOR_HEADERS;
    for (const byte of [0xff, 0xc3]) {
      const text = JSON.stringify([{ symbol: 'XAU', price: 2350, at: NOON, id: 'a?' }]);
      const body = Buffer.from(text).map((one) => (one === 0x3f ? byte : one));
      const reply = await api.ask('/admin/ticks', { method: 'POST', key: '', headers, body });
      expect(expectRefusal(reply, 400, 'invalid_body')).toBe(
        'The body is invalid: it is not valid UTF-8; encode it as UTF-8.',
      );
    }
  });

  test('none of this caused an internal error', () => {
    expect(api.service.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  });
});
