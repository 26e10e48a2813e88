import { z } from 'zod';
import type { LatestAnswer } from '../../client/answers.ts';
import { momentText, origin, priced } from '../text.ts';
import { conversion, symbolParams, symbols, tool } from '../tool.ts';

export const latestPrices = tool({
  name: 'latest_prices',
  title: 'Latest prices',
  description: 'The latest price of each symbol, with its currency, unit, time and source.',
  input: z.object({ symbols, ...conversion }),
  async answer(args, ask, horizon) {
    const { rates, metadata } = await ask<LatestAnswer>('/rates/latest', symbolParams(args));
    const lines: string[] = [];
    for (const [code, rate] of Object.entries(rates)) {
      const about = metadata[code]!;
      const stale = about.stale ? ', STALE: a newer price is overdue' : '';
      const moment = await momentText(about.at!, horizon);
      lines.push(`${priced(code, rate, about)}, ${moment}, ${origin(about)}${stale}`);
    }
    return { text: lines.join('\n') };
  },
});
