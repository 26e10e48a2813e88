import { inconsistency } from '../../../market/bar.ts';
import type { Collector } from '../../formats/collector.ts';
import { type PriceUnit, readPriceUnit } from '../../formats/unit.ts';
import type { Observation, Parsed, ProvidedSeries } from '../../provider.ts';

/** The result of a provider's `parse`. A body with unusable rows is not complete. */
export function parsedOf(
  collector: Collector,
  more: Pick<Parsed, 'next' | 'ignored' | 'complete'> = {},
): Parsed {
  const observations: Observation[] = [];
  const odd: Parsed['refused'] = [];
  for (const { where, ...observation } of collector.bars()) {
    observations.push(observation);
    const reason = inconsistency(observation);
    if (reason) odd.push({ where, reason });
  }
  const { missing, refused, isIntact } = collector;
  const complete = more.complete === true && isIntact;
  return { observations, missing, refused, odd, ...more, complete };
}

/** The unit in which the provider publishes a series. */
export function publishedUnit({ published, currency, unit }: ProvidedSeries): PriceUnit {
  return published ?? { currency, unit };
}

/** Describes a label that differs from the expected unit of a series; undefined if it matches. */
export function wrongUnit(series: ProvidedSeries, label: string): string | undefined {
  if (series.label !== undefined && plainLabel(label) === series.label) return undefined;
  const expected = publishedUnit(series);
  const found = readPriceUnit(label);
  if (found?.currency === expected.currency && found.unit === expected.unit) return undefined;
  return `${series.id} is in "${label.trim().slice(0, 60)}" where ${expected.currency} per ${expected.unit} was expected`;
}

/** `($/dmtu)` as `$/dmtu`. */
function plainLabel(label: string): string {
  return label.replace(/[()\s]+/g, '').toLowerCase();
}
