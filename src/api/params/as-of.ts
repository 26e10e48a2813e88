import { MS_PER_DAY, parseDay, printDay, utcDay } from '../../market/day.ts';
import { parseInstant, printInstant } from '../../market/intraday/instant.ts';
import { refuse } from '../errors/errors.ts';
import type { Finality } from '../model/answer.ts';
import type { AsOf } from '../model/price-query.ts';
import type { QueryParams } from '../model/query.ts';
import { echo, singleUnlessEmpty } from './parameters.ts';

/** An import takes minutes, and everything it records has the time of its start. */
export const SETTLED_AFTER_MS = 3_600_000;

/** Reads `asOf`: a day, which means its end in UTC, or a time. Undefined if it is absent. */
export function readAsOf(query: QueryParams, now: number): AsOf | undefined {
  const text = singleUnlessEmpty(query, 'asOf');
  if (text === undefined) return undefined;
  const day = parseDay(text);
  const moment = day === undefined ? parseInstant(text) : (day + 1) * MS_PER_DAY - 1;
  if (moment === undefined) throw refuse('invalid_as_of', { received: echo(text) });
  const asked = { name: 'asOf', received: echo(text) };
  if (day === undefined) {
    if (moment > now) throw refuse('date_in_future', { ...asked, now: printInstant(now) });
  } else if (day > utcDay(now)) {
    throw refuse('date_in_future', { ...asked, today: printDay(utcDay(now)) });
  }
  return { moment };
}

/** An answer about a moment long ago never changes. */
export function finalityAsOf({ moment }: AsOf, now: number): Finality {
  return moment + SETTLED_AFTER_MS <= now ? 'final' : 'open';
}
