import { describe, expect, test } from 'bun:test';
import { textFile } from '../../../test/support/feeds/price-text.ts';
import { closes, NOW, parse } from '../../../test/support/feeds/staged-text.ts';
import { marketOf } from '../../market/session.ts';
import { stageTable } from './stage-file.ts';
import { Staging } from './staging.ts';
import { openText } from './text-table.ts';

describe('numbers', () => {
  const value = async (text: string, delimiter = ',') =>
    (await closes(`date${delimiter}close\n2026-01-02${delimiter}${text}\n`))[0]?.[1];
  test.each([
    ['"1,234.5"', 1234.5],
    ['"1,234"', 1234],
    ['"12,345,678.9"', 12345678.9],
    ['144.15K', 144150],
    ['1.2M', 1200000],
    ['−37.63', -37.63],
    ['1 234.5', 1234.5],
    ["1'234.5", 1234.5],
    ['1.5e-3', 0.0015],
    ['+7', 7],
    ['"12,5"', 12.5],
    ['1987.0999755859375', 1987.09997558594],
    ['"1,987.0999755859375"', 1987.09997558594],
    ['0.30000000000000004', 0.3],
  ])('%s is %p', async (text, expected) => {
    expect(await value(text)).toBe(expected);
  });

  test('a decimal comma is detected by an unambiguous number', async () => {
    expect(await value('1.234,56', ';')).toBe(1234.56);
    expect(await value('0,123', ';')).toBe(0.123);
    expect(
      (await closes('date;close\n2026-01-02;1.234\n2026-01-05;12,5\n')).map(([, close]) => close),
    ).toEqual([1234, 12.5]);
    for (const delimiter of [';', '\t', '|']) {
      const { refused } = await parse(`date${delimiter}close\n2026-01-02${delimiter}1,234\n`);
      expect(refused[0]?.reason).toContain('--decimal');
    }
    expect(await closes('date;close\n2026-01-02;1,234\n', { decimal: 'comma' })).toEqual([
      ['2026-01-02', 1.234],
    ]);
    await expect(parse('date;close\n2026-01-02;12,5\n2026-01-05;12.5\n')).rejects.toThrow('--decimal');
  });

  test.each(['', '.', 'null', 'N/A', 'NaN', '-', '…', '#N/A'])(
    '"%s" is missing and not zero',
    async (text) => {
      expect(await parse(`date,close\n2026-01-02,${text}\n`)).toEqual({
        bars: [],
        missing: 1,
        refused: [],
      });
    },
  );

  test.each(['abc', '1.2.3', '5%', '0x10', 'Infinity', '"1,23,4.5"'])('%s is not a number', async (text) => {
    expect((await parse(`date,close\n2026-01-02,${text}\n2026-01-03,1.5\n`)).refused.length).toBe(1);
  });
});

describe('prices with a currency', () => {
  test.each([
    ['"$1,234.50"', 1234.5],
    ['$ 12', 12],
    ['US$12.5', 12.5],
    ['12.3 USD', 12.3],
    ['12.3usd', 12.3],
    ['USD 12.3', 12.3],
    ['-$36.98', -36.98],
    ['$-36.98', -36.98],
    ['($36.98)', -36.98],
  ])('%s is %p', async (text, value) => {
    expect(await closes(`date,close\n2026-01-02,${text}\n`)).toEqual([['2026-01-02', value]]);
  });

  test('a decimal comma is detected in prices with a currency sign', async () => {
    const symbolOf = (code: string) => ({ number: 0, code, currency: 'EUR', market: marketOf('SPOT') });
    const text = 'date;close\n2026-01-02;€ 1.234,50\n2026-01-05;12,5 €\n2026-01-06;€12\n';
    using staging = new Staging();
    const rules = { columns: {}, now: NOW, symbolOf };
    await stageTable(await openText(textFile(text), {}), rules, staging);
    expect([...staging.batches([7], () => {})].flat().map(({ close }) => close)).toEqual([1234.5, 12.5, 12]);
  });

  test.each(['€12', '12 EUR', '12¢', '£12', '12 BBL', 'GBP 12'])(
    '%s is refused for a symbol in USD',
    async (text) => {
      const { bars, refused } = await parse(`date,close\n2026-01-02,${text}\n`);
      expect(bars).toEqual([]);
      expect(refused[0]!.reason).toContain('is not in USD');
    },
  );
});
