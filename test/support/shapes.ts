import type { z } from 'zod';
import { SCHEMAS } from '../../src/api/openapi/schemas.ts';

/** The bodies of the interface by the last part of the path, strict: a member more or less fails. */
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
