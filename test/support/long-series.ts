import { parseDay, printDay } from '../../src/market/day.ts';
import type { TestService } from './service.ts';

const DAYS = 1_000;

/** A time series of 1.9 MB. */
export interface LongSeries {
  /** The plan that may request it. */
  plan: string;
  symbols: string[];
  startDate: string;
  endDate: string;
}

/** Publishes a thousand days of twenty symbols. */
export async function publishLongSeries(service: TestService): Promise<LongSeries> {
  const plan = 'long';
  await service.setPlan({ name: plan, maxSpanDays: DAYS });
  const symbols = (await service.ledger.symbols.list()).slice(0, 20).map(({ code }) => code);
  const startDate = '2021-01-01';
  const first = parseDay(startDate)!;
  for (const [i, code] of symbols.entries()) {
    const days = Array.from({ length: DAYS }, (_, n) => [printDay(first + n), 1000.12345678 + i + n]);
    await service.publish(code, Object.fromEntries(days));
  }
  return { plan, symbols, startDate, endDate: printDay(first + DAYS - 1) };
}
