import { MS_PER_DAY, parseDay } from '../day.ts';

/** Hours and minutes, optional seconds, and a zone; UTC without one. An unescaped plus arrives as a blank. */
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+\- ]\d{2}:?\d{2})?$/i;

/** Reads an ISO 8601 time, in ms; undefined if it is none. */
export function parseInstant(text: string): number | undefined {
  const match = TIME.exec(text);
  if (!match) return undefined;
  const [, date, hours, minutes, seconds = '00', fraction = '', zone = 'Z'] = match;
  const day = parseDay(date!);
  const valid = Number(hours) < 24 && Number(minutes) < 60 && Number(seconds) < 60;
  const offset = offsetOf(zone);
  if (day === undefined || !valid || offset === undefined) return undefined;
  const inDay = (Number(hours) * 60 + Number(minutes) - offset) * 60_000;
  return day * MS_PER_DAY + inDay + Number(seconds) * 1000 + Number(fraction.slice(0, 3).padEnd(3, '0'));
}

/** `2026-07-15T14:30:00Z`; with milliseconds only if there are some. */
export function printInstant(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z');
}

/** Minutes east of UTC. */
function offsetOf(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 14 || minutes > 59) return undefined;
  return (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1);
}
