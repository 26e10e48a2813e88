import type { Ledger } from '../../../ledger/ledger.ts';
import type { LedgerSymbol } from '../../../ledger/symbols/symbols.ts';
import { inconsistency } from '../../../market/bar.ts';
import { type Day, parseDay, printDay } from '../../../market/day.ts';
import { futureDay, marketOf } from '../../../market/session.ts';
import { canBeZero, missingPrice } from '../../../market/symbol.ts';
import { refuse } from '../../errors/errors.ts';
import type { AdminEndpoint } from '../../model/endpoint.ts';
import { adminEndpoint } from '../admin-endpoint.ts';
import { BAR_CORRECTION, BAR_DAYS, BAR_REVERT } from './bodies.ts';
import type { KnownSymbols } from './known-symbols.ts';

/** Ten years: more is the work of `openpit bars withdraw`. */
const DAYS_MAX = 3_700;
/** Withdraws, corrects and reverts the bars of days. */
export function adminBars(symbols: KnownSymbols): readonly AdminEndpoint[] {
  const symbolOf = async (code: string): Promise<LedgerSymbol> => {
    await symbols.load([code.toUpperCase()]);
    const symbol = symbols.get(code.toUpperCase());
    if (!symbol) throw refuse('not_there', { what: 'symbol', id: code.slice(0, 64) });
    return symbol;
  };
  return [
    adminEndpoint('/admin/bars/withdraw', {
      async POST({ ledger, now, body }) {
        const { symbol, startDate, endDate, reason } = await body(BAR_DAYS);
        const days = daysOf((await symbolOf(symbol)).id, startDate, endDate);
        const why = { by: 'operator', reason, recordedAt: now } as const;
        const bars = await ledger.withdrawals.withdraw(days, why);
        return changedDays(symbol, bars, now);
      },
    }),
    adminEndpoint('/admin/bars/revert', {
      async POST({ ledger, now, body }) {
        const { symbol, startDate, endDate, reason, recordedAt } = await body(BAR_REVERT);
        const days = daysOf((await symbolOf(symbol)).id, startDate, endDate);
        const of = recordedAt === undefined ? undefined : Date.parse(recordedAt);
        const reverted = await ledger.corrections.revert(days, { reason, recordedAt: now }, of);
        return changedDays(symbol, reverted, now);
      },
    }),
    adminEndpoint('/admin/bars/correct', {
      async POST({ ledger, now, body }) {
        const { symbol, date, reason, ...prices } = await body(BAR_CORRECTION);
        const known = await symbolOf(symbol);
        const symbolId = known.id;
        const day = dayOf('date', date);
        const problem =
          missingPrice(prices, canBeZero(known)) ??
          inconsistency(prices) ??
          futureDay(marketOf(known.market), day, now);
        if (problem) throw invalid(problem);
        const before = await currentBar(ledger, symbolId, day);
        const { taken, corrected } = await ledger.corrections.correct(
          { symbolId, day, ...prices },
          { reason, recordedAt: now },
        );
        const changed = taken + corrected > 0;
        return { success: true, symbol, date, changed, before, recordedAt: printTime(now) };
      },
    }),
  ];
}

function changedDays(symbol: string, bars: readonly { day: Day }[], now: number) {
  const days = bars.map(({ day }) => printDay(day));
  return { success: true, symbol, days, recordedAt: printTime(now) };
}

function printTime(ms: number): string {
  return new Date(ms).toISOString();
}

async function currentBar({ bars }: Ledger, symbolId: number, day: Day) {
  const current = (await bars.revisions(symbolId, 'real', day, day)).at(-1);
  if (!current || current.withdrawn) return null;
  const { open, high, low, close } = current;
  return { open, high, low, close };
}

function daysOf(symbolId: number, startDate: string, endDate = startDate) {
  const [first, last] = [dayOf('startDate', startDate), dayOf('endDate', endDate)];
  if (last < first) throw invalid('endDate is before startDate');
  if (last - first > DAYS_MAX) throw invalid(`the range is longer than ${DAYS_MAX} days`);
  return Array.from({ length: last - first + 1 }, (_, i) => ({ symbolId, day: first + i }));
}

function dayOf(name: string, text: string): Day {
  const day = parseDay(text);
  if (day === undefined) throw invalid(`${name}: the service has no such day`);
  return day;
}

function invalid(problem: string) {
  return refuse('invalid_body', { problems: [problem] });
}
