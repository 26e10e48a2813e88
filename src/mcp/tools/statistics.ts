import { z } from 'zod';
import type { StatisticsAnswer, SymbolStatistics } from '../../client/answers.ts';
import { printNumber } from '../../market/decimal.ts';
import { dayText, measure, origin, percent } from '../text.ts';
import { conversion, date, symbolParams, symbols, tool } from '../tool.ts';

export const priceStatistics = tool({
  name: 'price_statistics',
  title: 'Price statistics',
  description:
    'Mean, median, lowest and highest close with their days, standard deviation, annualised volatility and largest fall of each symbol in a range.',
  input: z.object({ symbols, from: date('The first day'), to: date('The last day'), ...conversion }),
  async answer(args, ask, horizon) {
    const params = { ...symbolParams(args), startDate: args.from, endDate: args.to };
    const { statistics, metadata } = await ask<StatisticsAnswer>('/rates/statistics', params);
    const until = await horizon();
    const blocks = Object.entries(statistics).map(([code, one]) => {
      const about = metadata[code]!;
      return [
        `${code}, ${measure(about)}, ${args.from} to ${args.to}, ${origin(about)}:`,
        ...lines(one, until),
      ].join('\n  ');
    });
    return { text: blocks.join('\n') };
  },
});

function lines(one: SymbolStatistics, horizon: number): string[] {
  const optional = (text: string, value: number | undefined) => (value === undefined ? [] : [text]);
  return [
    `${one.count} closes, last ${printNumber(one.last)} on ${dayText(one.lastDate, horizon)}`,
    `mean ${printNumber(one.mean)}, median ${printNumber(one.median)}`,
    `lowest ${printNumber(one.minimum)} on ${one.minimumDate}, highest ${printNumber(one.maximum)} on ${one.maximumDate}`,
    ...optional(`standard deviation ${one.standardDeviation}`, one.standardDeviation),
    ...optional(`annualised volatility ${percent(one.volatility ?? 0)}`, one.volatility),
    `largest fall ${percent(one.maximumDrawdown)}${one.peakDate ? ` from ${one.peakDate} to ${one.troughDate}` : ''}`,
  ];
}
