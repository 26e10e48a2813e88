import { describe, expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Reply } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS } from '../../support/operator.ts';
import { at, pushApi } from '../../support/push-api.ts';
import { NOON } from '../../support/service.ts';

onEachEngine('push', (engine) => {
  const { api, send } = pushApi(engine);
  const latest = async (code: string) => (await api.ask(`/rates/latest?symbols=${code}`)).body;

  test('every tick gets a result, in the order sent, and is served at once', async () => {
    const ticks = [
      { symbol: 'xau', price: 2_350.5, at: at(0) },
      { symbol: 'XAU', price: '2350.7', at: NOON - 50_000, id: 'mine' },
      { symbol: 'XAU', price: 2_350.9, at: Math.floor(NOON / 1000) - 40 },
      { symbol: 'GOLDD', price: 1, at: at(0) },
      { symbol: 'XAU', price: 'many', at: at(0) },
      { symbol: 'XAU', price: 1, at: '2024-05-15T12:00:00' },
      { symbol: 'XAU', price: 1, at: NOON + 3_600_000 },
      { symbol: 'XAU', price: 235_100, at: at(30) },
      7,
    ];
    const reply = await send('/admin/ticks', { source: 'desk', ticks });
    expect(reply.body).toMatchObject({
      success: true,
      source: 'desk',
      accepted: 3,
      duplicate: 0,
      quarantined: 1,
      refused: 5,
      results: [
        { status: 'accepted' },
        { status: 'accepted' },
        { status: 'accepted' },
        { status: 'refused', reason: expect.stringContaining('there is no GOLDD') },
        { status: 'refused', reason: expect.stringContaining('price') },
        { status: 'refused', reason: expect.stringContaining('at must be a time') },
        { status: 'refused', reason: expect.stringContaining('in the future') },
        { status: 'quarantined', reason: '235100 is far from its neighbour 2350.9' },
        { status: 'refused' },
      ],
    });
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
    expect(await latest('XAU')).toMatchObject({
      rates: { XAU: 2_350.9 },
      metadata: { XAU: { source: 'desk', at: new Date(NOON - 40_000).toISOString() } },
    });
    const again = await send('/admin/ticks?source=desk', ticks.slice(0, 3));
    expect(again.body).toMatchObject({ accepted: 0, duplicate: 3 });
  });

  test('NDJSON: a line that is not JSON is one refused record', async () => {
    const lines = `{"symbol":"XAG","price":30.1,"at":"${at(1)}"}\nnonsense\n\n{"symbol":"XAG","price":30.2,"at":"${at(2)}"}\n`;
    const reply = await send('/admin/ticks', lines, { 'content-type': 'application/x-ndjson' });
    expect(reply.body).toMatchObject({
      source: 'push',
      accepted: 2,
      results: [{ status: 'accepted' }, { status: 'refused', reason: 'the line is not JSON' }, {}],
    });
  });

  test('bars: four prices or one; the same prices again are a duplicate, other prices a correction', async () => {
    const bars = [
      { symbol: 'PL', date: '2024-05-13', open: 1_000, high: 1_010, low: 990, close: 1_005 },
      { symbol: 'PL', date: '2024-05-14', price: 1_001 },
      { symbol: 'PL', date: '2024-05-14', price: 1_002 },
      { symbol: 'PL', date: '2024-05-14', price: 1_001 },
      { symbol: 'PL', date: '2024-02-30', price: 1 },
      { symbol: 'PL', date: '2024-05-19', price: 1 },
      { symbol: 'PL', date: '2024-05-10', open: 1 },
    ];
    const statuses = ({ body }: Reply) => (body.results as { status: string }[]).map((one) => one.status);
    expect(statuses(await send('/admin/bars', { source: 'desk', bars }))).toEqual([
      'accepted',
      'accepted',
      'refused',
      'duplicate',
      'refused',
      'refused',
      'refused',
    ]);
    expect(statuses(await send('/admin/bars?source=desk', bars.slice(0, 2)))).toEqual([
      'duplicate',
      'duplicate',
    ]);
    const corrected = { symbol: 'PL', date: '2024-05-14', price: 1_003 };
    expect((await send('/admin/bars?source=desk', [corrected])).body).toMatchObject({ corrected: 1 });
    const day = await api.ask('/rates/historical?symbols=PL&date=2024-05-14');
    expect(day.body).toMatchObject({ rates: { PL: { close: 1_003 } }, metadata: { PL: { source: 'desk' } } });
  });

  test('a bar whose high is below its low is refused; one with its close outside of them is stored, with a remark', async () => {
    const bar = { symbol: 'PL', date: '2024-05-09', open: 1_000, high: 1_010, low: 990, close: 1_005 };
    const push = async (...bars: object[]) => (await send('/admin/bars?source=odd', bars)).body;
    expect((await push({ ...bar, high: 990, low: 1_010 })).results).toEqual([
      { status: 'refused', reason: 'high: 990 is below low 1010' },
    ]);
    const settled = { ...bar, close: 1_012 };
    const reason = 'open 1000, high 1010, low 990, close 1012 do not fit together';
    expect(await push(bar, { ...settled, date: '2024-05-08' })).toMatchObject({
      accepted: 2,
      results: [{ status: 'accepted' }, { status: 'accepted', reason }],
    });
    expect((await push(settled)).results).toEqual([{ status: 'corrected', reason }]);
    expect((await push(settled)).results).toEqual([{ status: 'duplicate' }]);
    const day = await api.ask('/rates/historical?symbols=PL&date=2024-05-09');
    expect(day.body).toMatchObject({ rates: { PL: { high: 1_010, close: 1_012 } } });
  });

  test('a zero is refused where it cannot be a price, and accepted where it can', async () => {
    const bar = (symbol: string, close: number) => ({
      symbol,
      date: '2024-05-13',
      open: close,
      high: close,
      low: close,
      close,
    });
    const tick = (symbol: string) => ({ symbol, price: 0, at: at(0) });
    const reason = '0 is not a price: it stands for a missing value';
    const bars = {
      source: 'zeros',
      bars: [bar('TIN', 0), { ...bar('ZINC', 5), low: 0 }, bar('COAL', 0), bar('URAL-OIL', 0)],
    };
    expect((await send('/admin/bars', bars)).body.results).toMatchObject([
      { status: 'refused', reason },
      { status: 'refused', reason },
      { status: 'refused', reason },
      { status: 'accepted' },
    ]);
    const ticks = { source: 'zeros', ticks: [tick('TIN'), tick('UXA'), tick('TTF-GAS')] };
    expect((await send('/admin/ticks', ticks)).body.results).toMatchObject([
      { status: 'refused', reason },
      { status: 'refused', reason },
      { status: 'accepted' },
    ]);
  });

  test('bars that look like a change of unit are refused unless accepted explicitly', async () => {
    await send('/admin/bars', [{ symbol: 'PA', date: '2024-05-13', price: 950 }]);
    const cents = [{ symbol: 'PA', date: '2024-05-14', price: 95_100 }];
    expect((await send('/admin/bars', cents)).body).toMatchObject({
      refused: 1,
      results: [{ reason: expect.stringContaining('accept=true') }],
    });
    expect((await send('/admin/bars?accept=true', cents)).body).toMatchObject({ accepted: 1 });
  });

  test.each([
    ['nonsense', 'not JSON'],
    ['{"symbol":"XAU"}\n{"symbol":"XAG"}', 'NDJSON is sent with "Content-Type: application/x-ndjson"'],
    ['{"ticks":5}', 'must be a list of ticks'],
    ['[]', 'holds no ticks'],
    [JSON.stringify({ source: 'simulated', ticks: [1] }), '"simulated" is reserved'],
    [
      JSON.stringify({ source: 'x'.repeat(65), ticks: [1] }),
      'source must be a name of at most 64 characters',
    ],
    [JSON.stringify({ source: '-desk', ticks: [1] }), 'that begins with a letter or a digit'],
    [JSON.stringify(Array(10_001).fill(1)), '10000 may be sent at a time'],
  ])('a batch that cannot be read is refused whole: %.20s', async (body, why) => {
    expect(expectRefusal(await send('/admin/ticks', body), 400, 'invalid_body')).toContain(why);
  });

  test('a compressed body is refused with the reason', async () => {
    const reply = await send('/admin/ticks', '[]', { 'content-encoding': 'gzip' });
    expect(expectRefusal(reply, 400, 'invalid_body')).toContain('it is compressed (gzip)');
  });

  test('a price that is not a number, and a code that is a formula, are refused with the reason', async () => {
    const ticks = [
      { symbol: 'XAU', price: true, at: at(0) },
      { symbol: 'GOLDSILVER', price: 80, at: at(0) },
    ];
    expect((await send('/admin/ticks', ticks)).body.results).toEqual([
      { status: 'refused', reason: 'price must be a number (received true)' },
      {
        status: 'refused',
        reason: 'symbol: GOLDSILVER is a formula; push the prices of the symbols that it is computed from',
      },
    ]);
  });

  test('only POST is allowed', async () => {
    expectRefusal(await api.ask('/admin/ticks', { headers: OPERATOR_HEADERS }), 405, 'method_not_allowed');
  });

  test('nothing is accepted without the token, and repeated attempts are rate-limited', async () => {
    const wrong = (): Promise<Reply> =>
      send('/admin/ticks', [{ symbol: 'XAU', price: 1, at: at(0) }], { authorization: 'Bearer wrong' });
    for (let i = 0; i < 5; i++) expectRefusal(await wrong(), 401, 'invalid_admin_token');
    expectRefusal(await wrong(), 429, 'rate_limited');
    api.service.clock.time += 61_000;
    expectRefusal(await wrong(), 401, 'invalid_admin_token');
  });
});

describe('without an admin token', () => {
  const api = apiOn('sqlite');

  test('pushing is not available', async () => {
    const reply = await api.ask('/admin/ticks', { method: 'POST' });
    expect(reply.status).toBe(404);
  });
});
