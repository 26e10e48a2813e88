import { z } from 'zod';
import { ERROR_STATUSES, type ErrorCode } from '../errors/errors.ts';
import { type MountPoint, mainMount } from '../routing/mount-point.ts';
import { DIALECTS, type Dialect, familyCodeOf } from '../versions/dialects.ts';
import type { Operation } from './operation.ts';
import { OPERATIONS } from './operations.ts';
import { PARAMETERS } from './parameters.ts';
import { headersOf, RESPONSE_HEADERS } from './response-headers.ts';
import { SCHEMAS } from './schemas/schemas.ts';

type Json = Record<string, unknown>;

/** Errors of every operation that needs a key. */
const KEYED: readonly ErrorCode[] = [
  'missing_key',
  'invalid_key',
  'account_suspended',
  'key_not_allowed',
  'repeated_parameter',
  'uri_too_long',
  'rate_limited',
  'internal',
  'unavailable',
];

/** Errors of every operation that has formats. */
const FORMAT_ERRORS: readonly ErrorCode[] = ['invalid_byte_range', 'invalid_parameter'];

const ERRORS_OF_TAG: Readonly<Record<Operation['tag'], readonly ErrorCode[]>> = {
  Rates: [...KEYED, 'quota_exhausted', 'already_charged'],
  Account: KEYED,
  Operator: ['invalid_admin_token', 'uri_too_long', 'rate_limited', 'internal', 'unavailable'],
  Service: ['internal'],
};

const SECURITY: Readonly<Record<Operation['tag'], readonly Json[]>> = {
  Rates: [{ header: [] }, { parameter: [] }],
  Account: [{ header: [] }, { parameter: [] }],
  Operator: [{ admin: [] }],
  Service: [],
};

/** Where the API is served unless OPENPIT_MOUNTS says otherwise. */
const DEFAULT_MOUNTS: readonly MountPoint[] = [
  { path: '', dialect: 'v1' },
  { path: '/v1', dialect: 'v1' },
  { path: '/v2', dialect: 'v2' },
  { path: '/v3', dialect: 'v3' },
];

/** The OpenAPI 3.1 document, generated from the schemas that validate bodies and that tests check responses against. */
export function openApiDocument(version: string, mounts = DEFAULT_MOUNTS): Json {
  const mount = mainMount(mounts);
  const paths: Record<string, Json> = {};
  for (const operation of OPERATIONS) {
    paths[operation.path] ??= {};
    paths[operation.path]![operation.method.toLowerCase()] = {
      ...describe(operation),
      ...(mount !== '' && isAtRoot(operation) && { servers: [{ url: '/' }] }),
    };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Openpit',
      version,
      summary: 'Commodity rates: latest, daily, over a range, changes, and a live stream.',
      description:
        `Send parameters in the query string. ${versionsText(mounts)} ` +
        'Each successful response of the Rates group costs one unit of the quota; errors, 304, HEAD and all other requests are free. Where there is a parameter `format`, the path may also end in `.json`, `.csv`, `.ndjson` or `.parquet`. A Parquet file supports `Range`; its first request, HEAD included, pays for it. A request that reads the ledger (asOf, /rates/revisions) costs one unit whatever its result, and so does one with a formula in `symbols` that has no value; HEAD costs a unit too if there is a formula.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: mount || '/' }],
    tags: [
      { name: 'Rates', description: 'Prices and symbols. Each successful response costs one unit.' },
      { name: 'Account', description: 'What the owner of a key can see and change. Free.' },
      {
        name: 'Operator',
        description: 'Management with the admin token. Disabled unless OPENPIT_ADMIN_TOKEN is set.',
      },
      { name: 'Service', description: 'For monitoring.' },
    ],
    paths,
    components: {
      schemas: Object.fromEntries(Object.entries(SCHEMAS).map(([name, schema]) => [name, schemaOf(schema)])),
      parameters: PARAMETERS,
      headers: RESPONSE_HEADERS,
      securitySchemes: {
        header: { type: 'apiKey', in: 'header', name: 'x-api-key' },
        parameter: { type: 'apiKey', in: 'query', name: 'apiKey' },
        admin: { type: 'http', scheme: 'bearer' },
      },
    },
    'x-error-codes': ERROR_STATUSES.map((one) => ({ ...one, error: familyCodeOf(one.code) })),
    'x-versions': dialectsOf(mounts),
  };
}

/** Which versions are served where, and how they differ. */
function versionsText(mounts: readonly MountPoint[]): string {
  const places = dialectsOf(mounts).map(({ name }) => {
    const paths = mounts.filter(({ dialect }) => dialect === name).map(({ path }) => path || '/');
    return `${name} under ${paths.join(' and ')}`;
  });
  const text = `Versions of the interface: ${places.join(', ')}.`;
  if (mounts.every(({ dialect }) => dialect === 'v1')) return text;
  return (
    `${text} v2 and v3 have time series of up to 365 days where the plan sets no limit, \`date\` in historical records, ` +
    '`metaData` in latest, and `error`, `path` and `timestamp` in errors. v3 lists unknown symbols among known ones in ' +
    '`unresolved` of a 206. x-versions has the table.'
  );
}

function dialectsOf(mounts: readonly MountPoint[]): Dialect[] {
  return Object.values(DIALECTS).filter(({ name }) => mounts.some(({ dialect }) => dialect === name));
}

/** Whether it is served only at the root, wherever the API is. */
function isAtRoot({ tag }: Operation): boolean {
  return tag === 'Operator' || tag === 'Service';
}

function describe(operation: Operation): Json {
  const { path, method, tag, summary, description, parameters, body, file, answer } = operation;
  const isStream = answer === STREAMED;
  const hasFormats = takesFormat(parameters);
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[/{}-]+(\w?)/g, (_, next: string) => next.toUpperCase())}`,
    tags: [tag],
    summary,
    ...(description && { description }),
    security: SECURITY[tag],
    ...(parameters && {
      parameters: parameters.map((name) => ({ $ref: `#/components/parameters/${name}` })),
    }),
    ...(file && {
      requestBody: {
        required: true,
        content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
      },
    }),
    ...(body && {
      requestBody: { required: false, content: { 'application/json': { schema: schemaOf(body, 'input') } } },
    }),
    responses: withHeaders(operation, {
      200: {
        description: isStream ? 'The data of each event' : 'Success',
        content: {
          ...contentOf(answer, parameters?.includes('dryRun') === true),
          ...(hasFormats && TABLES),
        },
      },
      ...(hasFormats && { 206: partial(answer) }),
      ...(tag === 'Rates' && !isStream && { 304: NOT_MODIFIED }),
      ...refusals(operation),
    }),
  };
}

function withHeaders(operation: Operation, responses: Record<string, Json>): Json {
  const described = Object.entries(responses).map(([status, { description, ...response }]) => {
    return [status, { description, headers: headersOf(operation, Number(status)), ...response }];
  });
  return Object.fromEntries(described);
}

/** The answer whose events are streamed. */
const STREAMED = 'StreamRate';

function contentOf(answer: Operation['answer'], hasDryRun: boolean): Json {
  const schema = { $ref: `#/components/schemas/${answer}` };
  const report = { $ref: '#/components/schemas/DryRun' };
  if (answer === STREAMED) {
    return { 'text/event-stream': { schema }, 'application/json': { schema: report } };
  }
  return { 'application/json': { schema: hasDryRun ? { anyOf: [schema, report] } : schema } };
}

/** The answer as a table. */
const TABLES: Json = {
  'text/csv': { schema: { type: 'string' } },
  'application/x-ndjson': { schema: { type: 'string' } },
  'application/vnd.apache.parquet': { schema: { type: 'string', format: 'binary' } },
};

const NOT_MODIFIED: Json = {
  description:
    'Nothing has changed since the response whose `ETag` was sent as `If-None-Match`. Free, unless the request reads the ledger',
  content: {},
};

function partial(answer: Operation['answer']): Json {
  return {
    description:
      'JSON, only in v3: some symbols are unknown and listed in `unresolved`. Parquet: a part of the file, as requested with `Range`',
    content: {
      'application/json': { schema: { $ref: `#/components/schemas/${answer}` } },
      'application/vnd.apache.parquet': TABLES['application/vnd.apache.parquet'],
    },
  };
}

/** The errors of an operation by status, each with its codes. */
function refusals({
  path,
  method,
  tag,
  parameters,
  body,
  file,
  errors = [],
}: Operation): Record<string, Json> {
  const schema = path === '/usage' ? 'UsageError' : isReadiness(path) ? 'Health' : 'Error';
  const formatErrors = takesFormat(parameters) ? FORMAT_ERRORS : [];
  const bodyErrors: ErrorCode[] = body || file ? ['body_too_large'] : [];
  // A change refuses parameters that it does not have.
  const changeErrors: ErrorCode[] = tag === 'Operator' && method !== 'GET' ? ['invalid_parameter'] : [];
  const codes = new Set<ErrorCode>([
    ...errors,
    ...formatErrors,
    ...bodyErrors,
    ...changeErrors,
    ...ERRORS_OF_TAG[tag],
  ]);
  const known = ERROR_STATUSES.filter(({ code }) => codes.has(code));
  const responses: Record<string, Json> = {};
  for (const [status, all] of Object.entries(Object.groupBy(known, (one) => one.status))) {
    responses[status] = {
      description: all!.map(({ code }) => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
    };
  }
  if (isReadiness(path)) return { 503: { ...responses[500], description: 'Not ready' } };
  return responses;
}

function takesFormat(parameters: Operation['parameters']): boolean {
  return parameters?.includes('format') === true;
}

function isReadiness(path: string): boolean {
  return path === '/health' || path === '/health/ready';
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output' = 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => dropDefaultBounds(jsonSchema),
  });
  return rest;
}

/** Removes the bounds that zod adds to every integer: they are noise, and lead to odd generated examples. */
function dropDefaultBounds(schema: { minimum?: number; maximum?: number }): void {
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
}
