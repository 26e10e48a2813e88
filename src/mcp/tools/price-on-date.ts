import { z } from 'zod';
import type { HistoricalAnswer } from '../../client/answers.ts';
import { printNumber } from '../../market/decimal.ts';
import { closeText, mayTrade, origin, priced } from '../text.ts';
import { conversion, date, symbolParams, symbols, tool } from '../tool.ts';

export const priceOnDate = tool({
  name: 'price_on_date',
  title: 'Price on a date',
  description:
    'Close, open, high and low of each symbol on one day; provisional ones on a day that may still be trading. On a day without a price, such as a holiday or most days of a monthly series, it is the last day before it that has one; the answer names the day.',
  input: z.object({ symbols, date: date('The day'), ...conversion }),
  async answer(args, ask, horizon) {
    const params = { ...symbolParams(args), date: args.date };
    const { rates, metadata } = await ask<HistoricalAnswer>('/rates/historical', params);
    const until = await horizon();
    const lines = Object.entries(rates).map(([code, { open, high, low, close }]) => {
      const about = metadata[code]!;
      const [o, h, l] = [open, high, low].map(printNumber);
      const day = about.date ?? args.date;
      // Not "no trading": a weekly or monthly series has no price of most trading days.
      const without = `no price of ${args.date}${mayTrade(args.date, until) ? ' yet' : ''}`;
      const earlier = day === args.date ? '' : ` (${without})`;
      return `${priced(code, close, about)}, ${closeText(day, until)}${earlier}; open ${o}, high ${h}, low ${l}; ${origin(about)}`;
    });
    return { text: lines.join('\n') };
  },
});
