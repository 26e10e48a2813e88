import { type Derivation, ROWS_BACK_MAX } from '../../market/analytics/closes.ts';
import { TRANSFORMS, type Transform } from '../../market/analytics/transform.ts';
import { refuse } from '../errors/errors.ts';
import type { QueryParams } from '../model/query.ts';
import { echo, singleUnlessEmpty } from './parameters.ts';

/** Reads `transform`, `period` and `moving`; undefined if nothing is derived. */
export function readDerivation(query: QueryParams): Derivation | undefined {
  const transform = readChoice(query, 'transform', TRANSFORMS);
  const period = readCount(query, 'period', 1);
  const moving = readCount(query, 'moving', 2);
  if (period !== undefined && !comparesPeriods(transform)) {
    throw refuse('invalid_parameter', {
      name: 'period',
      received: String(period),
      expected: 'sent with transform=change, percent or log',
    });
  }
  if (transform === undefined && moving === undefined) return undefined;
  return { transform, period: period ?? 1, moving };
}

function comparesPeriods(transform: Transform | undefined): boolean {
  return transform !== undefined && transform !== 'index';
}

/** Reads a parameter that is one of a few words, in any case. */
export function readChoice<T extends string>(
  query: QueryParams,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = singleUnlessEmpty(query, name);
  if (text === undefined) return undefined;
  const choice = choices.find((one) => one === text.toLowerCase());
  if (!choice) {
    throw refuse('invalid_parameter', {
      name,
      received: echo(text),
      expected: `one of ${choices.join(', ')}`,
    });
  }
  return choice;
}

function readCount(query: QueryParams, name: string, least: number): number | undefined {
  const text = singleUnlessEmpty(query, name);
  if (text === undefined) return undefined;
  const count = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= least && count <= ROWS_BACK_MAX)) {
    const expected = `a whole number from ${least} to ${ROWS_BACK_MAX}`;
    throw refuse('invalid_parameter', { name, received: echo(text), expected });
  }
  return count;
}
