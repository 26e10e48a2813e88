import { z } from 'zod';
import type { LatestAnswer } from '../../client/answers.ts';
import { momentText, origin, priced } from '../text.ts';
import { conversion, symbolParams, symbols, tool } from '../tool.ts';

export const latestPrices = tool({
  name: 'latest_prices',
  title: 'Latest prices',
  description: 'The latest price of each symbol, with its currency, unit, time and source.',
  input: z.object({ symbols, ...conversion }),
  async answer(args, ask) {
    const { rates, metadata } = await ask<LatestAnswer>('/rates/latest', symbolParams(args));
    const lines = Object.entries(rates).map(([code, rate]) => {
      const about = metadata[code]!;
      const stale = about.stale ? ', STALE: a newer price is overdue' : '';
      return `${priced(code, rate, about)}, ${momentText(about.at!)}, ${origin(about)}${stale}`;
    });
    return { text: lines.join('\n') };
  },
});
