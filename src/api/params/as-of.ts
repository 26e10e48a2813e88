import { MS_PER_DAY, parseDay, printDay, utcDay } from '../../market/day.ts';
import { refuse } from '../errors/errors.ts';
import type { Finality } from '../model/answer.ts';
import type { AsOf } from '../model/price-query.ts';
import type { QueryParams } from '../model/query.ts';
import { echo, single } from './parameters.ts';

/** Hours and minutes, optional seconds, and a zone; UTC without one. An unescaped plus arrives as a blank. */
const TIME = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+\- ]\d{2}:?\d{2})?$/i;

/** An import takes minutes, and everything it records has the time of its start. */
export const SETTLED_AFTER_MS = 3_600_000;

/** Reads `asOf`: a day, which means its end in UTC, or a time. Undefined if it is absent. */
export function readAsOf(query: QueryParams, now: number): AsOf | undefined {
  const text = single(query, 'asOf');
  if (text === undefined) return undefined;
  const day = parseDay(text);
  const moment = day === undefined ? parseTime(text) : (day + 1) * MS_PER_DAY - 1;
  if (moment === undefined) throw refuse('invalid_as_of', { received: echo(text) });
  if (day === undefined ? moment > now : day > utcDay(now)) {
    throw refuse('date_in_future', { name: 'asOf', received: echo(text), today: printDay(utcDay(now)) });
  }
  return { moment };
}

/** An answer about a moment long ago never changes. */
export function finalityAsOf({ moment }: AsOf, now: number): Finality {
  return moment + SETTLED_AFTER_MS <= now ? 'final' : 'open';
}

function parseTime(text: string): number | undefined {
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

/** Minutes east of UTC. */
function offsetOf(zone: string): number | undefined {
  if (zone.toUpperCase() === 'Z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 14 || minutes > 59) return undefined;
  return (hours * 60 + minutes) * (zone.startsWith('-') ? -1 : 1);
}
