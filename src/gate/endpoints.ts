/** The endpoints whose requests cost units. Their order may change: each spool file lists the endpoints it was written for. */
export const COUNTED_ENDPOINTS = [
  'symbols',
  'latest',
  'historical',
  'time-series',
  'fluctuation',
  'revisions',
  'history',
  'statistics',
  'stream',
  'market',
] as const;

export type CountedEndpoint = (typeof COUNTED_ENDPOINTS)[number];

/** The counts by endpoint name, without zeros, as the ledger takes them. */
export function spentByName(
  endpoints: readonly string[],
  countOf: (counter: number) => number,
): Record<string, number> {
  const spentBy: Record<string, number> = {};
  for (let counter = 0; counter < endpoints.length; counter++) {
    const count = countOf(counter);
    if (count > 0) spentBy[endpoints[counter]!] = count;
  }
  return spentBy;
}
