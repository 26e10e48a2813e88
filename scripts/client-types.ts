/** The types of the client, from docs/openapi.json. `npm run docs` writes them, and a test fails when the two differ. */
import { join } from 'node:path';

export const CLIENT_TYPES = join(import.meta.dir, '..', 'client', 'src', 'types.ts');

/** The responses that the client's methods return. */
const RESPONSES = [
  'Symbols',
  'Latest',
  'Historical',
  'TimeSeries',
  'Fluctuation',
  'History',
  'Statistics',
  'StreamRate',
  'Usage',
  'Capabilities',
  'DryRun',
] as const;

/** What its methods take beside symbols and dates, by operation. */
const PARAMETERS = {
  ConversionParameters: '/rates/latest',
  PastParameters: '/rates/historical',
  HistoryParameters: '/rates/history',
} as const;

/** Parameters that methods have arguments for, or that JSON answers have no use for. */
const OWN_ARGUMENTS = [
  'symbols',
  'date',
  'startDate',
  'endDate',
  'format',
  'layout',
  'field',
  'cursor',
  'dryRun',
];

interface Schema {
  type?: string | string[];
  description?: string;
  const?: unknown;
  enum?: readonly unknown[];
  anyOf?: readonly Schema[];
  items?: Schema;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  additionalProperties?: Schema | boolean;
}

interface Parameter {
  name: string;
  in: string;
  description: string;
  schema: Schema;
}

interface OpenApi {
  paths: Record<string, { get?: { parameters?: { $ref: string }[] } }>;
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> };
  'x-error-codes': readonly { code: string; error: string }[];
}

function clientTypes(document: OpenApi): string {
  const { schemas } = document.components;
  const codes = document['x-error-codes'];
  const families = [...new Set(codes.map(({ error }) => error))];
  return [
    '// Generated from docs/openapi.json by `npm run docs`. Do not edit.\n',
    ...RESPONSES.map((name) => responseType(name, schemas[name]!)),
    ...Object.entries(PARAMETERS).map(([name, path]) => parametersType(name, path, document)),
    `/** The codes of the service's errors. */\nexport type ErrorCode = ${unionOf(codes.map(({ code }) => code))};\n`,
    `/** What the later versions of the interface have in \`error\`. */\nexport type FamilyCode = ${unionOf(families)};\n`,
    `/** Fields that stay numbers when prices are strings. */\nexport const INTEGER_FIELDS: readonly string[] = ${JSON.stringify(integerFields(schemas))};`,
  ].join('\n');
}

/** A response whose prices are of type `N`: a number, or a string with all its digits. */
function responseType(name: string, schema: Schema): string {
  const body = typeOf(schema, '');
  const parameter = /\bN\b/.test(body) ? '<N = number>' : '';
  return `${comment(schema.description, '')}export interface ${name}${parameter} ${body}\n`;
}

function parametersType(name: string, path: string, { paths, components }: OpenApi): string {
  const all = (paths[path]!.get!.parameters ?? []).map(
    ({ $ref }) => components.parameters[$ref.slice($ref.lastIndexOf('/') + 1)]!,
  );
  const own = all.filter((one) => one.in === 'query' && !OWN_ARGUMENTS.includes(one.name));
  const lines = own.map(
    ({ name, description, schema }) =>
      `${comment(description, '  ')}  ${name}?: ${isSwitch(schema) ? 'boolean' : typeOf(schema, '  ').replace(/\bN\b/, 'number')} | undefined;`,
  );
  return `/** Parameters of ${path}. */\nexport interface ${name} {\n${lines.join('\n')}\n}\n`;
}

function isSwitch({ enum: values }: Schema): boolean {
  return values?.length === 2 && values.includes('true') && values.includes('false');
}

function typeOf(schema: Schema, indent: string): string {
  if (schema.anyOf) return schema.anyOf.map((one) => typeOf(one, indent)).join(' | ');
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return unionOf(schema.enum);
  if (Array.isArray(schema.type))
    return schema.type.map((type) => typeOf({ ...schema, type }, indent)).join(' | ');
  switch (schema.type) {
    case 'array':
      return arrayOf(typeOf(schema.items ?? {}, indent));
    case 'object':
      return schema.properties ? recordOf(schema, indent) : `Record<string, ${valueTypeOf(schema, indent)}>`;
    case 'integer':
      return 'number';
    case 'number':
      return 'N';
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type;
    default:
      return 'unknown';
  }
}

function recordOf({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    return `${comment(schema.description, inner)}${inner}${name}${isRequired ? '' : '?'}: ${typeOf(schema, inner)};`;
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function valueTypeOf({ additionalProperties }: Schema, indent: string): string {
  return typeof additionalProperties === 'object' ? typeOf(additionalProperties, indent) : 'unknown';
}

function arrayOf(item: string): string {
  return /[ |]/.test(item) && !item.startsWith('{') ? `(${item})[]` : `${item}[]`;
}

function unionOf(values: readonly unknown[]): string {
  return values.map(literal).join(' | ');
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

function comment(text: string | undefined, indent: string): string {
  return text === undefined ? '' : `${indent}/** ${text} */\n`;
}

/** The names of all integers in the responses. */
function integerFields(schemas: Readonly<Record<string, Schema>>): string[] {
  const names = new Set<string>();
  const visit = (schema: Schema): void => {
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      if (property.type === 'integer') names.add(name);
      visit(property);
    }
    for (const one of schema.anyOf ?? []) visit(one);
    if (schema.items) visit(schema.items);
    if (typeof schema.additionalProperties === 'object') visit(schema.additionalProperties);
  };
  for (const name of RESPONSES) if (/\bN\b/.test(typeOf(schemas[name]!, ''))) visit(schemas[name]!);
  return [...names].sort();
}

/** The file as it is committed, in the format of the repository. */
export async function clientTypesFromDocument(document: OpenApi): Promise<string> {
  const child = Bun.spawn(['bunx', '--no-install', 'biome', 'format', '--stdin-file-path', CLIENT_TYPES], {
    stdin: new Blob([clientTypes(document)]),
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error('biome cannot format the types of the client');
  return text;
}
