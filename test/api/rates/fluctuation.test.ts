import { expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('GET /rates/fluctuation', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-10': [9, 9, 9, 0.1], '2024-05-14': [9, 9, 9, 0.3] });
    await service.publish('XAG', { '2024-05-10': 3, '2024-05-14': 2 }, 'mint');
    await service.publish('CORN', { '2014-05-13': 500, '2024-05-14': 450 });
  });
  const between = (symbols: string, first: string, last: string, rest = '&metadata=false') =>
    api.ask(`/rates/fluctuation?symbols=${symbols}&startDate=${first}&endDate=${last}${rest}`);
  const rateOf = async (first: number, last: number) => {
    await api.service.publish('PL', { '2024-05-13': first, '2024-05-14': last });
    const { rates } = (await between('PL', '2024-05-13', '2024-05-14')).body as {
      rates: { PL: { change: number; changePercent: number } };
    };
    return [rates.PL.change, rates.PL.changePercent];
  };

  test('without metadata the body is exactly as specified, and change is the exact decimal difference', async () => {
    expect((await between('XAU,XAG', '2024-05-10', '2024-05-14')).text).toBe(
      '{"success":true,"startDate":"2024-05-10","endDate":"2024-05-14","rates":{"XAU":{"startRate":0.1,"endRate":0.3,"change":0.2,"changePercent":200},"XAG":{"startRate":3,"endRate":2,"change":-1,"changePercent":-33.3333}}}',
    );
  });

  test('metadata has the days that the rates are from', async () => {
    const { text } = await between('XAG', '2024-05-12', '2024-05-15', '');
    expect(text).toEndWith(
      ',"metadata":{"XAG":{"unit":"T.oz","quote":"USD","startDate":"2024-05-10","endDate":"2024-05-14","source":"mint"}}}',
    );
  });

  test('the requested dates are echoed, even for closed days and an end in the future', async () => {
    const { body } = await between('XAU', '2024-05-11', '2024-06-30');
    expect(body).toMatchObject({ startDate: '2024-05-11', endDate: '2024-06-30' });
    expect(body.rates).toEqual({ XAU: { startRate: 0.1, endRate: 0.3, change: 0.2, changePercent: 200 } });
  });

  test('the percentage is rounded half away from zero to four decimals', async () => {
    expect(await rateOf(200_000, 200_000.1)).toEqual([0.1, 0.0001]); // 0.00005 %
    expect(await rateOf(200_000, 199_999.9)).toEqual([-0.1, -0.0001]);
    expect(await rateOf(3, 3.1)).toEqual([0.1, 3.3333]);
  });

  test('the percentage is relative to the absolute value of the start, and zero for a start of zero', async () => {
    expect(await rateOf(-10, -5)).toEqual([5, 50]);
    expect(await rateOf(0, 7)).toEqual([7, 0]);
  });

  test('the span is not limited', async () => {
    const { body } = await between('CORN', '2014-05-13', '2024-05-14');
    expect(body.rates).toEqual({ CORN: { startRate: 500, endRate: 450, change: -50, changePercent: -10 } });
  });

  test('a start before the first bar names the symbol and its first day', async () => {
    const message = expectRefusal(await between('XAU,CORN', '2014-05-13', '2024-05-14'), 404, 'no_data');
    expect(message).toContain('XAU (its data starts on 2024-05-10)');
    expect(message).not.toContain('CORN');
  });
});
