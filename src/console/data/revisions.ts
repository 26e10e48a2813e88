import type { ChartBar, MarketSymbol, OhlcRecord } from '../api/answers.ts';
import { askWithKey } from '../api/client.ts';

/** A price that was corrected. */
export interface Correction {
  date: string;
  /** The close; null for a withdrawal. */
  before: number | null;
  after: number | null;
  recordedAt: string;
  source: string;
  reason: string | null;
}

/** A withdrawal has no prices. */
interface Version extends Partial<OhlcRecord> {
  withdrawn?: true;
  recordedAt: string;
  source: string;
  reason: string | null;
}

interface RangeAnswer {
  rates: Record<string, Record<string, Version[]>>;
  next: string | null;
}

/** Each page is a unit of the quota; one holds 2,000 versions, years of them. */
const PAGES_MAX = 3;

/** A provisional bar is replaced by the close of its session, which is not a correction. */
const PROVISIONAL = 'settlement';

/** The corrections of the days that a chart shows, the oldest first. */
export async function loadCorrections(
  key: string,
  { symbol }: MarketSymbol,
  bars: readonly ChartBar[],
  signal: AbortSignal,
): Promise<Correction[]> {
  const [first, last] = [bars[0], bars.at(-1)];
  if (!first || !last) return [];
  const query = new URLSearchParams({ symbols: symbol, startDate: first.date, endDate: endOf(last) });
  const found: Correction[] = [];
  for (let page = 0, cursor: string | null = ''; cursor !== null && page < PAGES_MAX; page++) {
    if (cursor !== '') query.set('cursor', cursor);
    const answer: RangeAnswer = await askWithKey<RangeAnswer>(key, `/rates/revisions?${query}`, { signal });
    for (const [date, symbols] of Object.entries(answer.rates)) {
      found.push(...correctionsOf(date, symbols[symbol] ?? []));
    }
    cursor = answer.next;
  }
  return found;
}

/** The last bar may be a week: the days after its first are in it. */
function endOf({ date }: ChartBar): string {
  return new Date(Date.parse(date) + 6 * 86_400_000).toISOString().slice(0, 10);
}

export function correctionsOf(date: string, versions: readonly Version[]): Correction[] {
  return versions.slice(1).flatMap((version, i) => {
    const before = versions[i]!;
    if (before.reason === PROVISIONAL || isSame(before, version)) return [];
    const { recordedAt, source, reason } = version;
    const [from, to] = [before.close ?? null, version.close ?? null];
    return [{ date, before: from, after: to, recordedAt, source, reason }];
  });
}

function isSame(a: Version, b: Version): boolean {
  return a.open === b.open && a.high === b.high && a.low === b.low && a.close === b.close;
}

/** The days of the bars that hold a corrected day, each once. */
export function markedDays(corrections: readonly Correction[], bars: readonly ChartBar[]): string[] {
  const marked = new Set<string>();
  for (const { date } of corrections) {
    const bar = bars.findLast((one) => one.date <= date);
    if (bar) marked.add(bar.date);
  }
  return [...marked].sort();
}
