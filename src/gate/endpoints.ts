/** What costs a unit. The order is the order of the counts in a spool record, so a new one goes to the end. */
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

/** The place of an endpoint's count in a record. */
export const PLACE_OF = Object.fromEntries(
  COUNTED_ENDPOINTS.map((endpoint, place) => [endpoint, place]),
) as Readonly<Record<CountedEndpoint, number>>;

/** Counts by place as the ledger wants them, by name. A place that this program does not know keeps its number. */
export function spentByName(counts: ArrayLike<number>): Record<string, number> {
  const spentBy: Record<string, number> = {};
  for (let place = 0; place < counts.length; place++) {
    if (counts[place]! > 0) spentBy[COUNTED_ENDPOINTS[place] ?? `endpoint-${place}`] = counts[place]!;
  }
  return spentBy;
}
