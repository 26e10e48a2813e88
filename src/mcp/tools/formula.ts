import { z } from 'zod';
import type { HistoricalAnswer, LatestAnswer } from '../../client/answers.ts';
import { closeText, mayTrade, momentText, origin, priced } from '../text.ts';
import { date, tool } from '../tool.ts';

export const formula = tool({
  name: 'formula',
  title: 'Evaluate a formula',
  description:
    'Evaluates an expression over prices exactly: spreads, ratios, margins. Write codes in braces, with + - * / ( ) and numbers: ({RB-FUT}*42-{WTIOIL-FUT}) is the gasoline crack spread in USD per barrel. Each price has its own currency and unit, so convert with factors where they differ. Without a date it uses the latest prices.',
  input: z.object({
    expression: z.string().min(1).max(1_000).describe('Such as {XAU}/{XAG}'),
    date: date('The day; by default now').optional(),
  }),
  async answer({ expression, date }, ask, now) {
    if (date === undefined) {
      const { rates, metadata } = await ask<LatestAnswer>('/rates/latest', { symbols: expression });
      return { text: textOf(rates, (code) => [metadata[code]!, momentText(metadata[code]!.at!)]) };
    }
    const { rates, metadata } = await ask<HistoricalAnswer>('/rates/historical', {
      symbols: expression,
      date,
    });
    const closes = Object.fromEntries(Object.entries(rates).map(([code, bar]) => [code, bar.close]));
    const when = (day: string) => (mayTrade(day, now) ? closeText(day, now) : `from the closes of ${day}`);
    return { text: textOf(closes, (code) => [metadata[code]!, when(metadata[code]!.date ?? date)]) };
  },
});

function textOf(
  values: Readonly<Record<string, number>>,
  about: (code: string) => [LatestAnswer['metadata'][string], string],
): string {
  const lines = Object.entries(values).map(([code, value]) => {
    const [metadata, when] = about(code);
    return `${priced(code, value, metadata)}, ${when}, ${origin(metadata)}`;
  });
  return lines.join('\n');
}
