import { LOOK_BACK_DAYS } from '../../market/symbol.ts';

/** The parameters of the interface. What each refuses is checked by the tests against the running service. */
export interface Parameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  description: string;
  schema: Readonly<Record<string, unknown>>;
  example?: string;
}

const dayParameter = (name: string, description: string, example: string, required = true): Parameter => ({
  name,
  in: 'query',
  required,
  description,
  schema: { type: 'string', format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$' },
  example,
});

const back = LOOK_BACK_DAYS;

export const PARAMETERS = {
  symbols: {
    name: 'symbols',
    in: 'query',
    required: true,
    description:
      'Codes separated by commas, in any case, at most as many as the plan allows. One that is unknown fails the request.',
    schema: { type: 'string', minLength: 1 },
    example: 'XAU,WTIOIL-FUT',
  },
  date: dayParameter(
    'date',
    `The day. A closed day answers with the last bar before it: at most ${back.day} days back, ${back.week} for weekly series and ${back.month} for monthly ones.`,
    '2024-03-28',
  ),
  startDate: dayParameter('startDate', 'The first day. It may not be in the future.', '2024-03-01'),
  endDate: dayParameter(
    'endDate',
    'The last day, not before the first. One in the future means today.',
    '2024-03-28',
  ),
  versionsOf: dayParameter('date', 'The very day whose versions are wanted.', '2024-03-28', false),
  revisedFrom: dayParameter(
    'startDate',
    'In place of `date`: the first day of a range, whose days with more than one version are wanted.',
    '2024-03-01',
    false,
  ),
  revisedTo: dayParameter('endDate', 'The last day of that range.', '2024-03-28', false),
  metadata: {
    name: 'metadata',
    in: 'query',
    required: false,
    description: '`false` leaves the member `metadata` out.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  quote: {
    name: 'quote',
    in: 'query',
    required: false,
    description: 'Another currency, at the ECB rate of the day.',
    schema: { type: 'string', pattern: '^[A-Za-z]{3}$' },
  },
  unit: {
    name: 'unit',
    in: 'query',
    required: false,
    description: 'Another unit of the same dimension, for example kg.',
    schema: { type: 'string' },
  },
  asOf: {
    name: 'asOf',
    in: 'query',
    required: false,
    description:
      'A day, meaning its end in UTC, or an ISO time: what the service would have said then. Such a request costs one unit however it ends.',
    schema: { type: 'string' },
  },
  format: {
    name: 'format',
    in: 'query',
    required: false,
    description: 'How the answer is written; `Accept` says it too.',
    schema: { type: 'string', enum: ['json', 'csv', 'ndjson'] },
  },
  interval: {
    name: 'interval',
    in: 'query',
    required: false,
    description: 'What prices are folded to.',
    schema: { type: 'string', enum: ['day', 'week', 'month', 'quarter', 'year'] },
  },
  cursor: {
    name: 'cursor',
    in: 'query',
    required: false,
    description:
      '`next` of the last answer, with all other parameters as they were. As CSV or NDJSON: all rows from there on.',
    schema: { type: 'string' },
  },
  lastEventId: {
    name: 'Last-Event-ID',
    in: 'header',
    required: false,
    description: 'The id of the last event that was received: only what changed since is sent.',
    schema: { type: 'string' },
  },
  search: {
    name: 'search',
    in: 'query',
    required: false,
    description: 'A part of an id, a name or a plan.',
    schema: { type: 'string' },
  },
  id: {
    name: 'id',
    in: 'path',
    required: true,
    description: 'The id, the name of a plan, or the code of a symbol.',
    schema: { type: 'string' },
  },
  confirm: {
    name: 'confirm',
    in: 'query',
    required: true,
    description: 'The same id or code again: what is deleted cannot be brought back.',
    schema: { type: 'string' },
  },
} as const satisfies Record<string, Parameter>;

export type ParameterName = keyof typeof PARAMETERS;
