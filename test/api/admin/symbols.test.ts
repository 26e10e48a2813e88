import { expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_SETTINGS, operatorOf } from '../../support/operator.ts';

onEachEngine('many symbols at once', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const send = operatorOf(api);
  const load = (symbols: unknown) => send('POST', '/admin/symbols', { symbols });
  const listed = async () =>
    ((await send('GET', '/admin/symbols')).body.symbols as Json[]).map(({ real: _, ...entry }) => entry);
  const symbolOf = async (code: string) => (await listed()).find((one) => one.code === code);
  const gold = async () => (await symbolOf('XAU'))!;

  test('the list can be sent back: what differs is added or changed, and audited by symbol', async () => {
    const before = await listed();
    expect((await load(before)).body).toMatchObject({ added: 0, changed: 0, unchanged: before.length });
    const own = { ...(await gold()), code: 'DORE', name: 'Doré bar', aliases: ['DORE-BAR'] };
    const reply = await load([own, { ...(await gold()), name: 'Fine gold' }, await symbolOf('XAG')]);
    expect(reply.body).toEqual({ success: true, added: 1, changed: 1, unchanged: 1 });
    expect(await symbolOf('DORE')).toEqual(own);
    expect(await symbolOf('XAU')).toMatchObject({ name: 'Fine gold' });
    expect(await listed()).toHaveLength(before.length + 1);
    const { entries } = (await send('GET', '/admin/audit?search=symbol.')).body as { entries: Json[] };
    expect(entries.map(({ action, target }) => [action, target]).toSorted()).toEqual([
      ['symbol.create', 'DORE'],
      ['symbol.update', 'XAU'],
    ]);
  });

  test('if one symbol is refused, none is written', async () => {
    const before = await listed();
    const good = { ...(await gold()), code: 'GOOD', aliases: [] };
    const refused: [symbols: unknown, status: number, error: string][] = [
      [[good, { ...good, code: 'lower' }], 400, 'invalid_body'],
      [[good, { ...good, code: 'BAD', market: 'moon' }], 400, 'invalid_body'],
      [[good, { ...good, code: 'OTHER', aliases: ['XAG'] }], 409, 'conflict'],
      [[good, { ...good, name: 'Twice' }], 400, 'invalid_body'],
      [[good, { ...good, code: 'NUL', name: 'a\0b' }], 400, 'invalid_body'], // PostgreSQL stores no NUL
      [[], 400, 'invalid_body'],
      [{ code: 'GOOD' }, 400, 'invalid_body'],
    ];
    for (const [symbols, status, error] of refused) expectRefusal(await load(symbols), status, error);
    expect(await listed()).toEqual(before);
  });
});
