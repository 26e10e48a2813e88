import { describe, expect, test } from 'bun:test';
import { apiOn, expectRefusal, type Reply, readReply } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { NOON } from '../../support/service.ts';

const TOKEN = 'a-token-for-the-operator';
const settings = { OPENPIT_ADMIN_TOKEN: TOKEN, OPENPIT_FAILED_KEYS_PER_MINUTE: '5' };
const at = (seconds: number) => new Date(NOON - 60_000 + seconds * 1_000).toISOString();

onEachEngine('push', (engine) => {
  const api = apiOn(engine, { settings });

  async function send(path: string, body: unknown, more: Record<string, string> = {}): Promise<Reply> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json', ...more };
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const reply = await readReply(
      await fetch(api.service.url + path, { method: 'POST', headers, body: text }),
    );
    await api.service.core.follow();
    return reply;
  }
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
        { status: 'refused', reason: expect.stringContaining('at: must be a time') },
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

  test('a suspicious bar is quarantined and not served until the operator releases it', async () => {
    const closes = [700, 705, 7_100, 698, -5, 710];
    const bars = closes.map((close, i) => ({
      symbol: 'RUBBER',
      date: `2024-05-0${i + 1}`,
      open: close,
      high: close,
      low: close,
      close,
    }));
    expect((await send('/admin/bars', { source: 'desk', bars })).body).toMatchObject({
      accepted: 4,
      quarantined: 2,
      results: [
        {},
        {},
        { status: 'quarantined', reason: '7100 is far from its neighbours (705 before, 710 after)' },
        {},
        { status: 'quarantined', reason: '-5 is below zero' },
        {},
      ],
    });
    const year = 'symbols=RUBBER&startDate=2024-01-01&endDate=2024-12-31&interval=year';
    const served = async () => (await api.ask(`/rates/history?${year}`)).body.rates;
    expect(await served()).toMatchObject([{ high: 710, low: 698 }]);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const list = await api.ask('/admin/quarantine', { key: '', headers });
    const held = (list.body.bars as Record<string, unknown>[]).filter((one) => one.symbol === 'RUBBER');
    expect(held).toMatchObject([
      { date: '2024-05-05', close: -5, source: 'desk', origin: 'push', state: 'held' },
      { date: '2024-05-03', close: 7_100 },
    ]);
    expect((await send(`/admin/quarantine/${held[0]!.id}/drop`, '')).body).toMatchObject({
      state: 'dropped',
    });
    expect((await send(`/admin/quarantine/${held[1]!.id}/release`, '')).body).toMatchObject({
      state: 'released',
    });
    expect(await served()).toMatchObject([{ high: 7_100, low: 698 }]);
    const repeated = await send('/admin/bars', { source: 'desk', bars: bars.slice(2, 3) });
    expect(repeated.body).toMatchObject({ duplicate: 1 });
  });

  describe('a jump to a new level, pushed one day at a time,', () => {
    const bar = (symbol: string, day: number, close: number) => ({
      symbol,
      date: `2024-04-${String(day).padStart(2, '0')}`,
      price: close,
    });
    const outcomeOf = async (symbol: string, day: number, close: number) => {
      const { body } = await send('/admin/bars', { source: 'daily', bars: [bar(symbol, day, close)] });
      return (body.results as { status: string }[])[0]!.status;
    };
    const established = async (symbol: string) => {
      const bars = Array.from({ length: 12 }, (_, i) => bar(symbol, i + 1, 700 + (i % 3) * 5));
      await send('/admin/bars', { source: 'daily', bars });
    };
    const heldOf = async (symbol: string) => {
      const headers = { authorization: `Bearer ${TOKEN}` };
      const { body } = await api.ask('/admin/quarantine?all=true', { key: '', headers });
      return (body.bars as Record<string, unknown>[]).filter((one) => one.symbol === symbol);
    };
    const closeOn = async (symbol: string, day: number) => {
      const { date } = bar(symbol, day, 0);
      const { body } = await api.ask(`/rates/historical?symbols=${symbol}&date=${date}`);
      return (body.rates as Record<string, { close: number }>)[symbol]!.close;
    };

    test('is held until three later bars agree, and is then published with them', async () => {
      await established('STEEL');
      for (const [day, close] of [
        [13, 2_800],
        [14, 2_810],
        [15, 2_790],
      ] as const) {
        expect(await outcomeOf('STEEL', day, close)).toBe('quarantined');
      }
      expect(await closeOn('STEEL', 15)).toBe(710);
      expect(await outcomeOf('STEEL', 16, 2_805)).toBe('accepted');
      expect(await heldOf('STEEL')).toMatchObject(
        [2_790, 2_810, 2_800].map((close) => ({
          close,
          state: 'released',
          decidedBy: 'later bars that confirm it',
        })),
      );
      expect([await closeOn('STEEL', 13), await closeOn('STEEL', 15)]).toEqual([2_800, 2_790]);
      expect(await outcomeOf('STEEL', 17, 2_800)).toBe('accepted');
    });

    test('that is a spike stays held when prices return, and a bar that the operator dropped is not released by later ones', async () => {
      await established('ZINC');
      expect(await outcomeOf('ZINC', 13, 2_800)).toBe('quarantined');
      for (const day of [14, 15, 16, 17]) expect(await outcomeOf('ZINC', day, 705)).toBe('accepted');
      expect(await heldOf('ZINC')).toMatchObject([{ close: 2_800, state: 'held' }]);
      expect(await outcomeOf('ZINC', 18, 2_900)).toBe('quarantined');
      const [dropped] = await heldOf('ZINC');
      await send(`/admin/quarantine/${dropped!.id}/drop`, '');
      for (const day of [19, 20, 21]) expect(await outcomeOf('ZINC', day, 2_910)).toBe('quarantined');
      expect(await outcomeOf('ZINC', 22, 2_905)).toBe('accepted');
      expect((await heldOf('ZINC')).map(({ state }) => state)).toEqual([
        'released',
        'released',
        'released',
        'dropped',
        'held',
      ]);
    });
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

  test('the operator can list, release and drop held prices', async () => {
    const ticks = [
      { symbol: 'WTIOIL-FUT', price: 78.1, at: at(0) },
      { symbol: 'WTIOIL-FUT', price: 99, at: at(1) },
      { symbol: 'WTIOIL-FUT', price: 7_800, at: at(2) },
    ];
    await send('/admin/ticks', ticks);
    const headers = { authorization: `Bearer ${TOKEN}` };
    const held = async () =>
      (
        (await api.ask('/admin/quarantine', { headers })).body.ticks as { id: number; symbol: string }[]
      ).filter((one) => one.symbol === 'WTIOIL-FUT');
    const [high, right] = await held();
    expect(high).toMatchObject({ price: 7_800, state: 'held', source: 'push', at: at(2) });
    expect((await send(`/admin/quarantine/${high!.id}/drop`, '')).body).toMatchObject({ state: 'dropped' });
    expect((await send(`/admin/quarantine/${right!.id}/release`, '')).status).toBe(200);
    expectRefusal(await send(`/admin/quarantine/${right!.id}/release`, ''), 404, 'not_there');
    expectRefusal(await send('/admin/quarantine/x/release', ''), 404, 'not_there');
    expect(await held()).toEqual([]);
    expect(await latest('WTIOIL-FUT')).toMatchObject({ rates: { 'WTIOIL-FUT': 99 } });
  });

  test.each([
    ['nonsense', 'not JSON'],
    ['{"ticks":5}', 'must be a list of ticks'],
    ['[]', 'holds no ticks'],
    [JSON.stringify({ source: 'simulated', ticks: [1] }), 'source must be a word'],
    [JSON.stringify(Array(10_001).fill(1)), '10000 may be sent at a time'],
  ])('a batch that cannot be read is refused whole: %.20s', async (body, why) => {
    expect(expectRefusal(await send('/admin/ticks', body), 400, 'invalid_body')).toContain(why);
  });

  test('only POST is allowed', async () => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    expectRefusal(await api.ask('/admin/ticks', { headers }), 405, 'method_not_allowed');
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
