import { describe, expect, test } from 'bun:test';
import { parseDay } from '../../../src/market/day.ts';
import { expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { OPERATOR_HEADERS } from '../../support/operator.ts';
import { at, pushApi } from '../../support/push-api.ts';

onEachEngine('the quarantine of pushed prices', (engine) => {
  const { api, send } = pushApi(engine);
  const latest = async (code: string) => (await api.ask(`/rates/latest?symbols=${code}`)).body;

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
    const list = await api.ask('/admin/quarantine', { key: '', headers: OPERATOR_HEADERS });
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

  test('a record that a batch repeats shares the fate of the first, unless that is stored', async () => {
    const twice = <T>(record: T) => [record, record];
    const bars = [
      ...[700, 705, 698, 702].map((price, i) => ({ symbol: 'OJ', date: `2024-05-0${i + 1}`, price })),
      ...twice({ symbol: 'OJ', date: '2024-05-08', price: 7_100 }),
      ...twice({ symbol: 'OJ', date: '2024-05-09', price: 0 }),
      ...twice({ symbol: 'OJ', date: '2024-05-10', price: 703 }),
      { symbol: 'OJ', date: '2024-05-10', price: 704 },
    ];
    expect((await send('/admin/bars', { source: 'desk', bars })).body).toMatchObject({
      accepted: 5,
      duplicate: 1,
      quarantined: 2,
      refused: 3,
    });
    const ticks = [
      { symbol: 'OJ', price: 700, at: at(0) },
      ...twice({ symbol: 'OJ', price: 70_000, at: at(1) }),
      ...twice({ symbol: 'OJ', price: 701, at: at(2) }),
    ];
    expect((await send('/admin/ticks', { source: 'desk', ticks })).body.results).toMatchObject([
      { status: 'accepted' },
      { status: 'quarantined', reason: '70000 is far from its neighbour 700' },
      { status: 'quarantined', reason: '70000 is far from its neighbour 700' },
      { status: 'accepted' },
      { status: 'duplicate' },
    ]);
  });

  test('a tick is not compared with ticks that the operator has withdrawn', async () => {
    const tick = (seconds: number, price: number) => ({ symbol: 'LAMB', price, at: at(seconds) });
    await send('/admin/ticks', [tick(0, 540), tick(1, 541)]);
    const { body } = await send('/admin/ticks', [tick(2, 5_400)]);
    expect(body).toMatchObject({ quarantined: 1 });
    const held = (await api.ask('/admin/quarantine', { key: '', headers: OPERATOR_HEADERS })).body.ticks as {
      id: number;
    }[];
    await send(`/admin/quarantine/${held[0]!.id}/release`, '');
    await send('/admin/bars', [{ symbol: 'LAMB', date: '2024-05-15', price: 5_400 }]);
    const { id } = api.service.core.board.catalog.find('LAMB')!.symbol;
    const { ledger, clock } = api.service;
    await ledger.withdrawals.withdraw([{ symbolId: id, day: parseDay('2024-05-15')! }], {
      by: 'operator',
      reason: 'a wrong release',
      recordedAt: clock.time,
    });
    clock.time += 60_000;
    expect((await send('/admin/ticks', [tick(90, 542)])).body).toMatchObject({ accepted: 1 });
    expect((await latest('LAMB')).rates).toEqual({ LAMB: 542 });
  });

  test('a tick is compared with ticks whose withdrawal was taken back', async () => {
    const tick = (seconds: number, price: number) => ({ symbol: 'SALMON', price, at: at(seconds) });
    await send('/admin/ticks', [tick(0, 540), tick(1, 541)]);
    await send('/admin/bars', [{ symbol: 'SALMON', date: '2024-05-15', price: 541 }]);
    const range = { symbol: 'SALMON', startDate: '2024-05-15', reason: 'a mistake' };
    expect((await send('/admin/bars/withdraw', range)).body.days).toEqual(['2024-05-15']);
    expect((await send('/admin/bars/revert', range)).body.days).toEqual(['2024-05-15']);
    api.service.clock.time += 60_000;
    expect((await send('/admin/ticks', [tick(90, 54_000)])).body).toMatchObject({ quarantined: 1 });
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
      const { body } = await api.ask('/admin/quarantine?all=true', { key: '', headers: OPERATOR_HEADERS });
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

    test('that the operator dropped stays dropped, also when later bars agree with it, until it is released', async () => {
      await established('TIN');
      expect(await outcomeOf('TIN', 13, 2_800)).toBe('quarantined');
      const [held] = await heldOf('TIN');
      await send(`/admin/quarantine/${held!.id}/drop`, '');
      for (const day of [14, 15, 16]) expect(await outcomeOf('TIN', day, 2_810)).toBe('quarantined');
      expect(await outcomeOf('TIN', 17, 2_805)).toBe('accepted');
      expect(await outcomeOf('TIN', 13, 2_800)).toBe('quarantined');
      expect(await closeOn('TIN', 13)).toBe(710);
      expect((await heldOf('TIN')).at(-1)).toMatchObject({ id: held!.id, state: 'dropped' });
      expect(await outcomeOf('TIN', 13, 2_801)).toBe('accepted'); // another price
      await send(`/admin/quarantine/${held!.id}/release`, '');
      expect(await closeOn('TIN', 13)).toBe(2_800);
    });

    test('that a later price of its day replaced waits again when it is sent again', async () => {
      await established('HG-SPOT');
      expect(await outcomeOf('HG-SPOT', 13, 2_800)).toBe('quarantined');
      expect(await outcomeOf('HG-SPOT', 13, 711)).toBe('accepted');
      expect(await outcomeOf('HG-SPOT', 13, 2_800)).toBe('quarantined');
      expect(await heldOf('HG-SPOT')).toMatchObject([{ close: 2_800, state: 'held', decidedBy: null }]);
      for (const day of [14, 15]) expect(await outcomeOf('HG-SPOT', day, 2_810)).toBe('quarantined');
      expect(await outcomeOf('HG-SPOT', 16, 2_805)).toBe('accepted');
      expect(await closeOn('HG-SPOT', 13)).toBe(2_800);
    });

    test('that its source took back by repeating the earlier price of the day does not confirm later ones', async () => {
      await established('NICKEL-SPOT');
      api.service.clock.time += 60_000;
      expect(await outcomeOf('NICKEL-SPOT', 12, 2_800)).toBe('quarantined');
      expect(await outcomeOf('NICKEL-SPOT', 12, 710)).toBe('duplicate');
      const outcomes: string[] = [];
      for (const day of [13, 14, 15, 16]) outcomes.push(await outcomeOf('NICKEL-SPOT', day, 2_810));
      expect(await closeOn('NICKEL-SPOT', 12)).toBe(710);
      expect(outcomes).toEqual(['quarantined', 'quarantined', 'quarantined', 'accepted']);
      expect((await heldOf('NICKEL-SPOT')).at(-1)).toMatchObject({
        state: 'dropped',
        decidedBy: 'a later bar of its source',
      });
    });

    test('that a later price of its day replaced is judged anew when it is sent again', async () => {
      await established('LEAD-SPOT');
      expect(await outcomeOf('LEAD-SPOT', 13, 2_800)).toBe('quarantined');
      expect(await outcomeOf('LEAD-SPOT', 13, 711)).toBe('accepted');
      expect(await heldOf('LEAD-SPOT')).toMatchObject([
        { state: 'dropped', decidedBy: 'a later bar of its source' },
      ]);
      for (const day of [14, 15, 16]) expect(await outcomeOf('LEAD-SPOT', day, 2_810)).toBe('quarantined');
      expect(await outcomeOf('LEAD-SPOT', 17, 2_805)).toBe('accepted');
      expect(await outcomeOf('LEAD-SPOT', 13, 2_800)).toBe('corrected');
    });
  });

  test('the operator can list, release and drop held prices', async () => {
    const ticks = [
      { symbol: 'WTIOIL-FUT', price: 78.1, at: at(0) },
      { symbol: 'WTIOIL-FUT', price: 99, at: at(1) },
      { symbol: 'WTIOIL-FUT', price: 7_800, at: at(2) },
    ];
    await send('/admin/ticks', ticks);
    const held = async () =>
      (
        (await api.ask('/admin/quarantine', { headers: OPERATOR_HEADERS })).body.ticks as {
          id: number;
          symbol: string;
        }[]
      ).filter((one) => one.symbol === 'WTIOIL-FUT');
    const [high, right] = await held();
    expect(high).toMatchObject({ price: 7_800, state: 'held', source: 'push', at: at(2) });
    expect((await send(`/admin/quarantine/${high!.id}/drop`, '')).body).toMatchObject({ state: 'dropped' });
    expect((await send(`/admin/quarantine/${right!.id}/release`, '')).status).toBe(200);
    for (const [{ id }, what, state] of [
      [right!, 'release', 'released'],
      [right!, 'drop', 'released'],
      [high!, 'drop', 'dropped'],
    ] as const)
      expect(expectRefusal(await send(`/admin/quarantine/${id}/${what}`, ''), 409, 'conflict')).toContain(
        `price ${id} has already been ${state}`,
      );
    expectRefusal(await send('/admin/quarantine/999999999/drop', ''), 404, 'not_there');
    expectRefusal(await send('/admin/quarantine/x/release', ''), 404, 'not_there');
    expect(await held()).toEqual([]);
    expect(await latest('WTIOIL-FUT')).toMatchObject({ rates: { 'WTIOIL-FUT': 99 } });
  });
});
