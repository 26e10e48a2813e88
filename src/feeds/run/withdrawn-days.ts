import type { Ledger } from '../../ledger/ledger.ts';
import type { BarRevision, NewBar } from '../../ledger/prices/bars.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import { type Day, printDay } from '../../market/day.ts';
import { printNumber } from '../../market/decimal.ts';
import type { Doubts } from './doubts.ts';

/** A day that is no longer in the provider's data. */
export interface WithdrawnDay {
  symbolId: number;
  day: Day;
  where: string;
  reason: string;
}

export interface WithdrawnDays {
  days: WithdrawnDay[];
  /** Symbols that lost too many days: the file looks broken. */
  doubts: Doubts;
}

/** A file that withdraws more than this share of a series, and more than a few days, is considered broken. */
const SHARE_MAX = 0.05;
const DAYS_MAX = 2;

/**
 * What a provider has withdrawn: days strictly between the first and the last day of its new edition that are not in it, and
 * whose current bar is the provider's own. Days before or after the edition are not withdrawn.
 */
export async function findWithdrawnDays(
  ledger: Ledger,
  source: string,
  edition: readonly NewBar[],
  symbols: readonly LedgerSymbol[],
): Promise<WithdrawnDays> {
  const found: WithdrawnDays = { days: [], doubts: new Map() };
  const sourceId = [...(await ledger.sources.names())].find(([, name]) => name === source)?.[0];
  if (sourceId === undefined) return found;
  for (const [symbolId, bars] of Map.groupBy(edition, (bar) => bar.symbolId)) {
    const days = new Set(bars.map(({ day }) => day));
    const [first, last] = [bars[0]!.day, bars.at(-1)!.day]; // sorted by day
    const own = await ownBars(ledger, symbolId, { first: first + 1, last: last - 1, sourceId });
    const gone = own.filter(({ day }) => !days.has(day));
    const { code } = symbols.find(({ id }) => id === symbolId)!;
    if (gone.length > Math.max(DAYS_MAX, own.length * SHARE_MAX)) {
      const reason = `${gone.length} of ${own.length} days are gone, the first ${printDay(gone[0]!.day)}`;
      found.doubts.set(symbolId, reason);
    }
    for (const { day, close } of gone) {
      const reason = `was ${printNumber(close)}, and is not in the provider's new edition`;
      found.days.push({ symbolId, day, where: `${code} ${printDay(day)}`, reason });
    }
  }
  return found;
}

/** The current bars of a range that are from the source. */
async function ownBars(
  ledger: Ledger,
  symbolId: number,
  { first, last, sourceId }: { first: Day; last: Day; sourceId: number },
): Promise<BarRevision[]> {
  const revisions = await ledger.bars.revisions(symbolId, 'real', first, last);
  const current = new Map(revisions.map((bar) => [bar.day, bar]));
  return [...current.values()].filter((bar) => !bar.withdrawn && bar.sourceId === sourceId);
}
