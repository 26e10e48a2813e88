import { z } from 'zod';
import type { FluctuationAnswer, PriceMetadata } from '../../client/answers.ts';
import type { AskRates } from '../../client/ask.ts';
import { signed } from '../../client/signed.ts';
import { difference, percentChange, printNumber } from '../../market/decimal.ts';
import { dayText, measure, origin } from '../text.ts';
import { conversion, date, symbolParams, symbols, tool } from '../tool.ts';

export const priceChange = tool({
  name: 'price_change',
  title: 'Price change',
  description:
    'How much each symbol changed between two days: both closes, the difference and the percentage. Any distance, such as a week or ten years.',
  input: z.object({ symbols, from: date('The first day'), to: date('The last day'), ...conversion }),
  async answer(args, ask, horizon) {
    const changes = await changesOf(ask, symbolParams(args), args.from, args.to);
    const until = await horizon();
    return { text: changes.map((change) => changeLine(change, until)).join('\n') };
  },
});

/** The closes of a symbol at both ends of a range. */
export interface Change {
  code: string;
  start: { date: string; close: number };
  end: { date: string; close: number };
  metadata: PriceMetadata;
}

export async function changesOf(
  ask: AskRates,
  params: Readonly<Record<string, string | undefined>>,
  from: string,
  to: string,
): Promise<Change[]> {
  const range = { startDate: from, endDate: to };
  const { rates, metadata } = await ask<FluctuationAnswer>('/rates/fluctuation', { ...params, ...range });
  return Object.entries(rates).map(([code, { startRate, endRate }]) => {
    const about = metadata[code]!;
    return {
      code,
      start: { date: about.startDate, close: startRate },
      end: { date: about.endDate, close: endRate },
      metadata: about,
    };
  });
}

function changeLine({ code, start, end, metadata }: Change, horizon: number): string {
  const absolute = difference(end.close, start.close);
  const relative = percentChange(start.close, end.close, 2);
  return `${code}: ${signed(absolute)} ${measure(metadata)} (${signed(relative)} %), from ${printNumber(start.close)} on ${start.date} to ${printNumber(end.close)} on ${dayText(end.date, horizon)}, ${origin(metadata)}`;
}
