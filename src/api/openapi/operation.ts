import type { z } from 'zod';
import type { ErrorCode } from '../errors/errors.ts';
import type { Method } from '../model/endpoint.ts';
import type { ParameterName } from './parameters.ts';
import type { SchemaName } from './schemas.ts';

/** One thing that can be asked. */
export interface Operation {
  path: string;
  method: Method;
  tag: 'Rates' | 'Account' | 'Operator' | 'Service';
  summary: string;
  description?: string;
  parameters?: readonly ParameterName[];
  body?: z.ZodType;
  answer: SchemaName;
  /** What may be refused beside what every operation of its tag refuses. */
  errors?: readonly ErrorCode[];
}
