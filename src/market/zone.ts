import { MS_PER_DAY } from './day.ts';

/**
 * Wall time in an IANA zone. Intl takes microseconds, so the offset of each quarter of an hour is cached: every zone
 * changes its offset on a quarter.
 */
export const QUARTER_MS = 900_000;
const formats = new Map<string, Intl.DateTimeFormat>();
const offsets = new Map<string, Map<number, number>>();

/** Local time minus UTC at an instant, in ms. */
export function zoneOffset(zone: string, ms: number): number {
  if (zone === 'UTC') return 0;
  const known = offsets.getOrInsertComputed(zone, () => new Map<number, number>());
  const quarter = Math.floor(ms / QUARTER_MS);
  const kept = known.get(quarter);
  if (kept !== undefined) return kept;
  if (known.size > 50_000) known.clear();
  const offset = askIntl(zone, quarter * QUARTER_MS);
  known.set(quarter, offset);
  return offset;
}

/** Whether this is the name of an IANA zone. */
export function isZone(zone: string): boolean {
  try {
    return zoneOffset(zone, 0) !== undefined;
  } catch {
    return false;
  }
}

/** The instant at which a zone's clock shows `localMs` after its midnight of `day`. */
export function instantOf(zone: string, day: number, localMs: number): number {
  const wall = day * MS_PER_DAY + localMs;
  const guess = wall - zoneOffset(zone, wall);
  return wall - zoneOffset(zone, guess);
}

function askIntl(zone: string, ms: number): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const part: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(ms)) part[type] = Number(value);
  const wall = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!);
  return wall - ms;
}
