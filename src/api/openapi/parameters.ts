import { ROWS_BACK_MAX } from '../../market/analytics/closes.ts';
import { TRANSFORMS } from '../../market/analytics/transform.ts';
import { INTERVALS } from '../../market/interval.ts';
import { INTRADAY_INTERVALS } from '../../market/intraday/interval.ts';
import { LOOK_BACK_DAYS } from '../../market/symbol.ts';
import { IMPORT_PARAMETERS } from './import-parameters.ts';
import type { Parameter } from './parameter.ts';

const dayParameter = (name: string, description: string, example?: string, required = true): Parameter => ({
  name,
  in: 'query',
  required,
  description,
  schema: { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
  ...(example !== undefined && { example }),
});

const timeParameter = (name: string, description: string, example: string): Parameter => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}' },
  example,
});

const lookBack = LOOK_BACK_DAYS;

export const PARAMETERS = {
  symbols: {
    name: 'symbols',
    in: 'query',
    required: true,
    description:
      'Codes separated by commas, in upper or lower case. The plan limits their number. An unknown code fails the request. A rates endpoint also takes formulas such as `{RB-FUT}*42-{WTIOIL-FUT}`; each symbol in them counts.',
    schema: { type: 'string', minLength: 1 },
    example: 'XAU,WTIOIL-FUT',
  },
  date: dayParameter(
    'date',
    `The day. For a closed day, the response has the last bar before it, at most ${lookBack.day} days back, ${lookBack.week} for weekly series and ${lookBack.month} for monthly ones.`,
    '2024-03-28',
  ),
  startDate: dayParameter('startDate', 'The first day. It must not be in the future.', '2024-03-01'),
  endDate: dayParameter(
    'endDate',
    'The last day, not before the first. A day in the future means today.',
    '2024-03-28',
  ),
  historyFrom: timeParameter(
    'startDate',
    'The first day, not in the future. For intervals shorter than a day also a time such as `2024-03-01T09:30:00Z`; rows are the intervals that begin from then on.',
    '2024-03-01',
  ),
  historyTo: timeParameter(
    'endDate',
    'The last day, not before the first. A day in the future means today. For intervals shorter than a day also a time.',
    '2024-03-28',
  ),
  versionsOf: dayParameter('date', 'The day whose versions to list.', '2024-03-28', false),
  revisedFrom: dayParameter(
    'startDate',
    'Instead of `date`: the first day of a range. Days with more than one version are listed.',
    undefined,
    false,
  ),
  revisedTo: dayParameter('endDate', 'The last day of that range.', undefined, false),
  someSymbols: {
    name: 'symbols',
    in: 'query',
    required: false,
    description:
      'Only these symbols, however many; a named formula stands for the symbols in it. Without it, the response has all symbols.',
    schema: { type: 'string', minLength: 1 },
    example: 'XAU,WTIOIL-FUT',
  },
  paidVisit: {
    name: 'visit',
    in: 'query',
    required: false,
    description:
      'The header `Openpit-Visit` of an earlier response, at most an hour old: the response is free.',
    schema: { type: 'string' },
  },
  closes: {
    name: 'closes',
    in: 'query',
    required: false,
    description: '`false` omits the recent closes, three quarters of the response.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  visit: {
    name: 'visit',
    in: 'query',
    required: true,
    description: 'The header `Openpit-Visit` of a response of `/market`, at most an hour old.',
    schema: { type: 'string', minLength: 1 },
  },
  metadata: {
    name: 'metadata',
    in: 'query',
    required: false,
    description: '`false` omits the field `metadata`.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  quote: {
    name: 'quote',
    in: 'query',
    required: false,
    description: 'The currency to convert to, at the ECB rate of the day.',
    schema: { type: 'string', pattern: '^[A-Za-z]{3}$' },
  },
  unit: {
    name: 'unit',
    in: 'query',
    required: false,
    description: 'The unit to convert to, for example kg. GET /units lists the units of a symbol.',
    schema: { type: 'string' },
  },
  asOf: {
    name: 'asOf',
    in: 'query',
    required: false,
    description:
      'A point in time: an ISO time, or a day, which means its end in UTC. The response is what the service would have returned then. Such a request costs one unit whatever its result.',
    schema: { type: 'string' },
  },
  format: {
    name: 'format',
    in: 'query',
    required: false,
    description:
      'The format of the response. Alternatively, end the path in `.json`, `.csv`, `.ndjson` or `.parquet`, or send `Accept`.',
    schema: { type: 'string', enum: ['json', 'csv', 'ndjson', 'parquet'] },
  },
  interval: {
    name: 'interval',
    in: 'query',
    required: false,
    description:
      'The interval that prices are aggregated to; `day` if omitted. Those shorter than a day begin at whole UTC intervals, and a row has its time.',
    schema: { type: 'string', enum: [...INTRADAY_INTERVALS, ...INTERVALS] },
  },
  transform: {
    name: 'transform',
    in: 'query',
    required: false,
    description:
      'Adds a field of this name to each row, computed from the closes: the change since `period` intervals earlier, the same in percent, the natural logarithm of the quotient, or an index that is 100 at the first row.',
    schema: { type: 'string', enum: TRANSFORMS },
  },
  period: {
    name: 'period',
    in: 'query',
    required: false,
    description:
      'How many intervals a change goes back; 1 if omitted. Days are days with a price; longer intervals are those of the calendar.',
    schema: { type: 'integer', minimum: 1, maximum: ROWS_BACK_MAX },
  },
  moving: {
    name: 'moving',
    in: 'query',
    required: false,
    description: 'Adds the field `moving`: the moving average of this many closes.',
    schema: { type: 'integer', minimum: 2, maximum: ROWS_BACK_MAX },
  },
  layout: {
    name: 'layout',
    in: 'query',
    required: false,
    description:
      '`wide`: one row per date and one column per symbol, in CSV, NDJSON and Parquet. `long`: one row per date and symbol.',
    schema: { type: 'string', enum: ['long', 'wide'] },
  },
  field: {
    name: 'field',
    in: 'query',
    required: false,
    description:
      'With `layout=wide`: the field in the cells. `close` if omitted, or the transform or moving average if one is requested.',
    schema: {
      type: 'string',
      enum: ['open', 'high', 'low', 'close', ...TRANSFORMS, 'moving', 'average', 'count'],
    },
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    required: false,
    description:
      '`next` of the previous response, with all other parameters unchanged. Tables contain all rows from there on.',
    schema: { type: 'string' },
  },
  lastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The id of the last event received. Only later changes are sent.',
    schema: { type: 'string' },
  },
  onlyNew: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: '`*` refuses to replace an existing definition.',
    schema: { type: 'string', enum: ['*'] },
  },
  dryRun: {
    name: 'dryRun',
    in: 'query',
    required: false,
    description:
      '`true` returns what the request would cost and whether it would be admitted, without data and free of charge.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  search: {
    name: 'search',
    in: 'query',
    required: false,
    description: 'Part of an id, a name or a plan.',
    schema: { type: 'string' },
  },
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id, the name of the plan, or the code of the symbol.',
    schema: { type: 'string' },
  },
  quarantineAll: {
    name: 'all',
    in: 'query',
    required: false,
    description: '`true` includes prices that were released or dropped.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  limit: {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'The maximum number of entries.',
    schema: { type: 'integer', minimum: 1 },
  },
  before: {
    name: 'before',
    in: 'query',
    required: false,
    description: 'Only entries older than the one with this id.',
    schema: { type: 'string' },
  },
  after: {
    name: 'after',
    in: 'query',
    required: false,
    description: 'Only accounts created after the one with this id.',
    schema: { type: 'string' },
  },
  ...IMPORT_PARAMETERS,
  confirm: {
    name: 'confirm',
    in: 'query',
    required: true,
    description: 'The same id or code again, because a deletion cannot be undone.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;
