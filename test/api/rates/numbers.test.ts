import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { apiOn } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const DAY = '/rates/historical?symbols=XAU&date=2024-05-14&metadata=false';

onEachEngine('numbers', (engine) => {
  const api = apiOn(engine);

  /** What each endpoint prints for a published price. */
  const printed = async (text: string): Promise<string[]> => {
    await api.service.publish('XAU', { '2024-05-14': Number(text) });
    const day = (await api.ask(DAY)).text;
    const latest = (await api.ask('/rates/latest?symbols=XAU&metadata=false')).text;
    const range = 'symbols=XAU&startDate=2024-05-14&endDate=2024-05-14&metadata=false';
    const series = (await api.ask(`/rates/time-series?${range}`)).text;
    const change = (await api.ask(`/rates/fluctuation?${range}`)).text;
    return [
      /"close":([^,}]+)/.exec(day)![1]!,
      /"rates":\{"XAU":([^,}]+)/.exec(latest)![1]!,
      /"open":([^,}]+)/.exec(series)![1]!,
      /"endRate":([^,}]+)/.exec(change)![1]!,
    ];
  };
  const expectPrinted = async (text: string) => {
    expect(await printed(text)).toEqual([text, text, text, text]);
  };

  const KNOWN = [
    '0',
    '0.1',
    '-37.63',
    '2358.2',
    '123456789012345',
    '0.123456789012345',
    '99999.9999999999',
    '0.00000001',
    '-0.000000000000001',
    '0.00000000000000000123456789012345',
    '1000000000000000000000',
    '-123456789012345000000000000',
  ];
  for (const text of KNOWN) {
    test(`${text} reads back as published from every endpoint, never in exponent form`, async () => {
      await expectPrinted(text);
    });
  }

  test('negative zero is 0', async () => {
    expect(await printed('-0')).toEqual(['0', '0', '0', '0']);
  });

  test('any price of up to 15 digits is returned with exactly its digits', async () => {
    const decimal = fc
      .tuple(fc.boolean(), fc.integer({ min: 1, max: 999_999_999_999_999 }), fc.integer({ min: 0, max: 18 }))
      .map(([negative, digits, scale]) => {
        const padded = String(digits).padStart(scale + 1, '0');
        const whole = scale === 0 ? padded : padded.slice(0, -scale);
        const fraction = scale === 0 ? '' : padded.slice(-scale).replace(/0+$/, '');
        return `${negative ? '-' : ''}${whole}${fraction && `.${fraction}`}`;
      });
    await fc.assert(fc.asyncProperty(decimal, expectPrinted), { numRuns: 40 });
  });

  test('open, high, low and close keep their own digits', async () => {
    await api.service.publish('XAU', { '2024-05-14': [0.1, 0.3, -0.0000001, 0.2] });
    expect((await api.ask(DAY)).text).toContain('{"open":0.1,"high":0.3,"low":-0.0000001,"close":0.2}');
  });

  test('changes are exact where floats are not', async () => {
    await api.service.publish('XAG', { '2024-05-13': 1.1, '2024-05-14': 3.3 });
    const path = '/rates/fluctuation?symbols=XAG&startDate=2024-05-13&endDate=2024-05-14&metadata=false';
    expect((await api.ask(path)).text).toContain('"change":2.2,"changePercent":200}');
    await api.service.publish('XAG', { '2024-05-13': 0.0000003, '2024-05-14': 0.0000001 });
    expect((await api.ask(path)).text).toContain('"change":-0.0000002,"changePercent":-66.6667}');
  });
});
