import { type Collector, oddOnes } from '../formats/collector.ts';
import { type PriceUnit, readPriceUnit } from '../formats/unit.ts';
import type { Parsed, ProvidedSeries } from '../provider.ts';

/** What a provider's parse answers with, from what it has fetched. A body with unusable rows is not complete. */
export function parsedOf(
  collector: Collector<string>,
  more: Pick<Parsed, 'next' | 'ignored' | 'complete'> = {},
): Parsed {
  const taken = collector.taken();
  const observations = taken.map(({ series, day, open, high, low, close }) => ({
    series,
    day,
    open,
    high,
    low,
    close,
  }));
  const { missing, refused, isIntact } = collector;
  const complete = more.complete === true && isIntact;
  return { observations, missing, refused, odd: oddOnes(taken), ...more, complete };
}

/** What a number of a series is as the provider publishes it. */
export function publishedUnit({ published, currency, unit }: ProvidedSeries): PriceUnit {
  return published ?? { currency, unit };
}

/** Why a label is not the unit that is expected of a series; undefined when it is. */
export function wrongUnit(series: ProvidedSeries, label: string): string | undefined {
  const expected = publishedUnit(series);
  const found = readPriceUnit(label);
  if (found?.currency === expected.currency && found.unit === expected.unit) return undefined;
  return `${series.id} is in "${label.trim().slice(0, 60)}" where ${expected.currency} per ${expected.unit} was expected`;
}
