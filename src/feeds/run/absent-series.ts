import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownBody, SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Day } from '../../market/day.ts';
import type { FetchedBody, ProviderData } from '../fetch/fetch-provider.ts';
import type { Provider } from '../provider.ts';

export interface AbsenceCheck {
  /** The first day that was asked for. */
  since: Day;
  /** Series that failed in the run before. */
  failing: ReadonlySet<string>;
  symbols: readonly LedgerSymbol[];
}

/**
 * Series of which a body has nothing, although the ledger has prices of theirs that it should repeat: the provider has
 * dropped or renamed them, or changed their unit. A series that ended long ago is not among them: the provider still
 * has its history, and of late there was nothing.
 */
export async function absentSeries(
  provider: Provider,
  fetched: ProviderData,
  ledger: Ledger,
  { since, failing, symbols }: AbsenceCheck,
): Promise<SeriesFailure[]> {
  const present = new Set([
    ...fetched.observations.map(({ series }) => series),
    ...fetched.failed.map(({ series }) => series),
    ...fetched.bodies.filter(isUnchanged).flatMap(({ covers }) => covers),
  ]);
  const absent: SeriesFailure[] = [];
  for (const { id, symbol: code } of provider.series) {
    const symbol = present.has(id) ? undefined : symbols.find((one) => one.code === code);
    if (!symbol) continue;
    const lastDay = failing.has(id) ? since : await ledger.feeds.lastDayOf(provider.key, symbol.id);
    if (lastDay !== undefined && lastDay >= since)
      absent.push({ series: id, reason: reasonFor(id, fetched) });
  }
  return absent;

  function isUnchanged({ urlHash }: KnownBody): boolean {
    return fetched.unchanged.has(urlHash);
  }
}

/** What the parse said about the series, if it did. */
function reasonFor(series: string, { refused }: ProviderData): string {
  const said = refused.find(({ where, reason }) => where.includes(series) || reason.includes(series));
  return said ? said.reason : 'the provider sent no values for it';
}

/** What is known of the bodies. One with a failed series is asked for in full again: unchanged, it would look fine. */
export function bodiesToKeep(bodies: readonly FetchedBody[], failed: readonly SeriesFailure[]): KnownBody[] {
  const names = new Set(failed.map(({ series }) => series));
  return bodies.map(({ covers, ...body }) =>
    covers.some((series) => names.has(series)) ? { ...body, etag: undefined, lastModified: undefined } : body,
  );
}
