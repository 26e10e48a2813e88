import { z } from 'zod';
import type { HistoricalAnswer, LatestAnswer, PriceMetadata } from '../../client/answers.ts';
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
  async answer({ expression, date }, ask, horizon) {
    if (date === undefined) {
      const { rates, metadata } = await ask<LatestAnswer>('/rates/latest', { symbols: expression });
      return { text: await textOf(rates, metadata, ({ at }) => momentText(at!, horizon)) };
    }
    const { rates, metadata } = await ask<HistoricalAnswer>('/rates/historical', {
      symbols: expression,
      date,
    });
    const closes = Object.fromEntries(Object.entries(rates).map(([code, bar]) => [code, bar.close]));
    const until = await horizon();
    const when = ({ date: day = date }: PriceMetadata) =>
      mayTrade(day, until) ? closeText(day, until) : `from the closes of ${day}`;
    return { text: await textOf(closes, metadata, when) };
  },
});

async function textOf(
  values: Readonly<Record<string, number>>,
  metadata: Readonly<Record<string, PriceMetadata>>,
  when: (about: PriceMetadata) => string | Promise<string>,
): Promise<string> {
  const lines: string[] = [];
  for (const [code, value] of Object.entries(values)) {
    const about = metadata[code]!;
    lines.push(`${priced(code, value, about)}, ${await when(about)}, ${origin(about)}`);
  }
  return lines.join('\n');
}
