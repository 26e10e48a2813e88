/** The endpoints whose requests cost units. Their order may change: each spool file lists the endpoints it was written for. */
export const COUNTED_ENDPOINTS = [
  'symbols',
  'latest',
  'historical',
  'time-series',
  'fluctuation',
  'revisions',
  'history',
  'stream',
] as const;

export type CountedEndpoint = (typeof COUNTED_ENDPOINTS)[number];

/** Counts as the ledger takes them: by the name of the endpoint, without zeros. */
export function spentByName(endpoints: readonly string[], counts: ArrayLike<number>): Record<string, number> {
  const spentBy: Record<string, number> = {};
  for (const [place, endpoint] of endpoints.entries()) {
    if (counts[place]! > 0) spentBy[endpoint] = counts[place]!;
  }
  return spentBy;
}
