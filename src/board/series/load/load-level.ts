/** How much of a series is in memory, ascending. `latest` are only the latest prices, of all views. */
const LOAD_LEVELS = ['nothing', 'latest', 'recent', 'all'] as const;
export type LoadLevel = (typeof LOAD_LEVELS)[number];

/** What a request needs in memory. `dates` are only the first and the last one. */
export type RequiredData = LoadLevel | 'dates';

export function isAtLeast(level: LoadLevel, wanted: LoadLevel): boolean {
  return LOAD_LEVELS.indexOf(level) >= LOAD_LEVELS.indexOf(wanted);
}
