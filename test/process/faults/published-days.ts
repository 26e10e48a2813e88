import { join } from 'node:path';
import { Ledger } from '../../../src/ledger/ledger.ts';
import { utcDay } from '../../../src/market/day.ts';
import { systemClock } from '../../../src/runtime/clock.ts';
import type { Settings } from './environment.ts';

/** Publishes a bar of each symbol for each of the last days. Returns the codes. */
export async function publishDays(settings: Settings, symbols: number, days: number): Promise<string[]> {
  const url = settings.OPENPIT_DATABASE_URL ?? join(settings.OPENPIT_DATA_DIR!, 'openpit.db');
  const ledger = await Ledger.open(url, systemClock);
  try {
    const isAsked = (code: string) => Number(['XAU', 'XAG'].includes(code));
    const all = (await ledger.symbols.list()).sort((a, b) => isAsked(b.code) - isAsked(a.code));
    const chosen = all.slice(0, symbols);
    const today = utcDay(systemClock.now());
    for (const { id } of chosen) {
      const bars = Array.from({ length: days + 1 }, (_, i) => {
        const price = 100 + (i % 50);
        return {
          symbolId: id,
          day: today - 1 - i,
          open: price,
          high: price + 1,
          low: price - 1,
          close: price,
        };
      });
      await ledger.bars.publish(bars, { source: 'test', recordedAt: systemClock.now() });
    }
    return chosen.map(({ code }) => code);
  } finally {
    await ledger.close();
  }
}
