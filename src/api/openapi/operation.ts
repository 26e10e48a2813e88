import type { z } from 'zod';
import type { ErrorCode } from '../errors/errors.ts';
import type { Method } from '../model/endpoint.ts';
import type { ParameterName } from './parameters.ts';
import type { SchemaName } from './schemas/schemas.ts';

/** One method of one path. */
export interface Operation {
  path: string;
  method: Method;
  tag: 'Rates' | 'Account' | 'Operator' | 'Service';
  summary: string;
  description?: string;
  parameters?: readonly ParameterName[];
  body?: z.ZodType;
  /** Whether the body is a file. */
  file?: true;
  answer: SchemaName;
  /** Its errors, in addition to those of every operation with its tag. */
  errors?: readonly ErrorCode[];
}
