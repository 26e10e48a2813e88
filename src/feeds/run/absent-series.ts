import type { Ledger } from '../../ledger/ledger.ts';
import type { KnownBody, SeriesFailure } from '../../ledger/operations/feed-runs.ts';
import type { LedgerSymbol } from '../../ledger/symbols/symbols.ts';
import type { Day } from '../../market/day.ts';
import type { FetchedBody, ProviderData } from '../fetch/provider-data.ts';
import type { Provider } from '../provider.ts';

export interface AbsenceCheck {
  /** The first requested day. */
  since: Day;
  /** Series that failed in the previous run. */
  failing: ReadonlySet<string>;
  symbols: readonly LedgerSymbol[];
}

/**
 * Series that are absent although the ledger has prices of theirs in the requested range: the provider has dropped or renamed
 * them, or changed their unit. A series that ended before that range does not count.
 */
export async function absentSeries(
  provider: Provider,
  fetched: ProviderData,
  ledger: Ledger,
  { since, failing, symbols }: AbsenceCheck,
): Promise<SeriesFailure[]> {
  const isUnchanged = ({ urlHash }: KnownBody) => fetched.unchanged.has(urlHash);
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
}

/** The parser's reason for refusing the series, if it gave one. */
function reasonFor(series: string, { refused }: ProviderData): string {
  const refusal = refused.find(({ where, reason }) => where.includes(series) || reason.includes(series));
  return refusal ? refusal.reason : 'the provider sent no values for it';
}

/** The bodies to store. Drops the validators of bodies with failed series, so that the next run fetches them in full. */
export function bodiesToKeep(bodies: readonly FetchedBody[], failed: readonly SeriesFailure[]): KnownBody[] {
  const names = new Set(failed.map(({ series }) => series));
  return bodies.map(({ covers, ...body }) =>
    covers.some((series) => names.has(series)) ? { ...body, etag: undefined, lastModified: undefined } : body,
  );
}
