import type { z } from 'zod';
import { SCHEMAS } from '../../../src/api/openapi/schemas/schemas.ts';

/** The response bodies of the API by the last segment of the path. Strict: an extra or missing member fails. */
export const SUCCESS_SHAPES: Readonly<Record<string, z.ZodType>> = {
  symbols: SCHEMAS.Symbols,
  latest: SCHEMAS.Latest,
  historical: SCHEMAS.Historical,
  'time-series': SCHEMAS.TimeSeries,
  fluctuation: SCHEMAS.Fluctuation,
  usage: SCHEMAS.Usage,
  history: SCHEMAS.History,
  revisions: SCHEMAS.Revisions,
};

export const REFUSAL_SHAPE = SCHEMAS.Error;

export const USAGE_REFUSAL_SHAPE = SCHEMAS.UsageError;
