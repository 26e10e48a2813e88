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

  test('prices of a symbol that was defined a moment ago are accepted and corrected', async () => {
    const own = { ...(await gold()), code: 'JUST-NOW', aliases: [] };
    await load([own]);
    const bars = [{ symbol: 'JUST-NOW', date: '2024-05-14', price: 10 }];
    expect((await send('POST', '/admin/bars', { bars })).body).toMatchObject({ accepted: 1, refused: 0 });
    await load([{ ...own, code: 'JUST-NOW-TOO' }]);
    const prices = { open: 10, high: 10, low: 10, close: 10 };
    const correction = { symbol: 'JUST-NOW-TOO', date: '2024-05-14', ...prices, reason: 'first' };
    expect((await send('POST', '/admin/bars/correct', correction)).body).toMatchObject({ changed: true });
    await load([{ ...own, code: 'JUST-NOW-LIVE' }]);
    const ticks = [{ symbol: 'JUST-NOW-LIVE', price: 10, at: '2024-05-15T11:59:00Z' }];
    expect((await send('POST', '/admin/ticks', { ticks })).body).toMatchObject({ accepted: 1, refused: 0 });
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
