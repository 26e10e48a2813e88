import { FormulaSeries } from '../../board/series/formula-series.ts';
import type { Series } from '../../board/series/series.ts';
import type { Prices } from '../../board/views/prices.ts';
import type { Day } from '../../market/day.ts';
import { Refusal } from '../errors/errors.ts';

/** The first and the last day that a symbol has; undefined without prices. */
export interface KnownDays {
  first: Day | undefined;
  last: Day | undefined;
}

/**
 * The days that errors and warnings name. Those of a formula are the first and the last day on which all its symbols have
 * a bar: their calendars may differ. With partial prices, they are bounds of those days. Whether it has a value on them is
 * left out, because that can tell a price.
 */
export function knownDays(series: Series, prices: Prices): KnownDays {
  const [first, last] = [prices.firstDay(series), prices.lastDay(series)];
  if (!(series instanceof FormulaSeries) || first === undefined || last === undefined) return { first, last };
  if (first > last) return { first: undefined, last: undefined };
  if (prices.isPartial) return { first, last };
  try {
    const lastCommon = lastCommonDay(series, prices, first, last);
    if (lastCommon === undefined) return { first: undefined, last: undefined };
    return { first: firstCommonDay(series, prices, first, lastCommon), last: lastCommon };
  } catch (error) {
    if (error instanceof Refusal) return { first, last }; // no exchange rate that early
    throw error;
  }
}

function lastCommonDay({ parts }: FormulaSeries, prices: Prices, first: Day, last: Day): Day | undefined {
  for (let day = last; ; ) {
    const days: Day[] = [];
    for (const part of parts) {
      const bar = prices.barOnOrBefore(part.series, day, first);
      if (!bar) return undefined;
      days.push(bar.day);
    }
    const earliest = Math.min(...days);
    if (days.every((one) => one === earliest)) return earliest;
    day = earliest;
  }
}

/** A year: monthly series that begin on a holiday have a day in common with daily ones some months later. */
const WINDOW_DAYS = 366;

/** `last` is a common day. */
function firstCommonDay({ parts }: FormulaSeries, prices: Prices, first: Day, last: Day): Day {
  for (let from = first; from < last; from += WINDOW_DAYS) {
    const to = Math.min(last, from + WINDOW_DAYS - 1);
    const [own, ...others] = parts.map(
      (part) => new Set(prices.bars(part.series, from, to).map(({ day }) => day)),
    );
    for (const day of own!) if (others.every((days) => days.has(day))) return day;
  }
  return last;
}
