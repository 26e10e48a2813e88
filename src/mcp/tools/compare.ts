import { z } from 'zod';
import type { StatisticsAnswer } from '../../client/answers.ts';
import { type AskRates, type QueryValues, RequestRefused } from '../../client/ask.ts';
import { csv, quoted } from '../../client/csv.ts';
import { signed } from '../../client/signed.ts';
import { percentChange, printNumber } from '../../market/decimal.ts';
import { errorText } from '../hints.ts';
import { dayText, measure, origin, percent } from '../text.ts';
import { conversion, date, symbolParams, symbols, tool } from '../tool.ts';
import { type Change, changesOf } from './change.ts';

export const compare = tool({
  name: 'compare',
  title: 'Compare symbols',
  description:
    'Compares two or more symbols over a range: the change of each, the best first, their volatility, and the correlation of their log returns.',
  input: z.object({
    symbols: symbols.min(2),
    from: date('The first day'),
    to: date('The last day'),
    ...conversion,
  }),
  async answer(args, ask, horizon) {
    const params = symbolParams(args);
    const changes = await changesOf(ask, params, args.from, args.to);
    const { statistics, correlation, refusal } = await statisticsOf(ask, {
      ...params,
      startDate: args.from,
      endDate: args.to,
    });
    const until = await horizon();
    const ranked = changes.toSorted((a, b) => growth(b) - growth(a));
    const rows = ranked.map((change) => {
      const { code, start, end, metadata } = change;
      const volatility = statistics[code]?.volatility;
      return [
        code,
        `${signed(percentChange(start.close, end.close, 2))} %`,
        `${printNumber(start.close)} on ${start.date}`,
        `${printNumber(end.close)} on ${dayText(end.date, until)}`,
        measure(metadata),
        volatility === undefined ? '' : percent(volatility),
        origin(metadata),
      ];
    });
    const table = csv(
      ['symbol', 'change', 'first close', 'last close', 'measure', 'volatility', 'origin'],
      rows,
      quoted, // part of a text that a model reads: an apostrophe before `+2.3 %` would be noise
    );
    const codes = changes.map(({ code }) => code);
    const correlations =
      refusal === undefined
        ? `Correlation of log returns between common days:\n${pairs(codes, correlation).join('\n')}`
        : `No volatility and correlation: ${refusal}`;
    return { text: `${table}\n\n${correlations}` };
  },
});

type StatisticsOrRefusal = Pick<StatisticsAnswer, 'statistics' | 'correlation'> & { refusal?: string };

/** None if they are refused: the changes, which are paid for already, are still worth an answer. */
async function statisticsOf(ask: AskRates, params: QueryValues): Promise<StatisticsOrRefusal> {
  try {
    return await ask<StatisticsAnswer>('/rates/statistics', params);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const none = { statistics: {}, correlation: {} };
    return error.code === 'no_data' ? none : { ...none, refusal: errorText(error) };
  }
}

function growth({ start, end }: Change): number {
  return start.close === 0 ? 0 : (end.close - start.close) / Math.abs(start.close);
}

function pairs(codes: readonly string[], correlation: StatisticsAnswer['correlation']): string[] {
  return codes.flatMap((one, i) =>
    codes.slice(i + 1).map((other) => {
      const value = correlation[one]?.[other];
      return `${one} and ${other}: ${typeof value === 'number' ? value.toFixed(3) : 'too few common days'}`;
    }),
  );
}
