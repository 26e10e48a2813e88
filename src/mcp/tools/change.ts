import { z } from 'zod';
import type { HistoricalAnswer, PriceMetadata } from '../../client/answers.ts';
import type { AskRates } from '../../client/ask.ts';
import { signed } from '../../client/signed.ts';
import { difference, percentChange, printNumber } from '../../market/decimal.ts';
import { measure, origin } from '../text.ts';
import { conversion, date, symbolParams, symbols, tool } from '../tool.ts';

export const priceChange = tool({
  name: 'price_change',
  title: 'Price change',
  description:
    'How much each symbol changed between two days: both closes, the difference and the percentage. Any distance, such as a week or ten years.',
  input: z.object({ symbols, from: date('The first day'), to: date('The last day'), ...conversion }),
  async answer(args, ask) {
    const changes = await changesOf(ask, symbolParams(args), args.from, args.to);
    return { text: changes.map(changeLine).join('\n') };
  },
});

/** The closes of a symbol on two days. */
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
  const first = await ask<HistoricalAnswer>('/rates/historical', { ...params, date: from });
  const last = await ask<HistoricalAnswer>('/rates/historical', { ...params, date: to });
  return Object.keys(last.rates).map((code) => {
    const closeOf = ({ rates, metadata, date }: HistoricalAnswer) => ({
      date: metadata[code]!.date ?? date,
      close: rates[code]!.close,
    });
    return { code, start: closeOf(first), end: closeOf(last), metadata: last.metadata[code]! };
  });
}

function changeLine({ code, start, end, metadata }: Change): string {
  const absolute = difference(end.close, start.close);
  const relative = percentChange(start.close, end.close, 2);
  return `${code}: ${signed(absolute)} ${measure(metadata)} (${signed(relative)} %), from ${printNumber(start.close)} on ${start.date} to ${printNumber(end.close)} on ${end.date}, ${origin(metadata)}`;
}
