/** The parts of the OpenAPI document that the reference shows. */

export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  description?: string;
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  anyOf?: readonly Schema[];
  enum?: readonly string[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
}

export interface ApiParameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: string;
}

type Content = Readonly<Record<string, { schema: Schema }>>;

interface RawOperation {
  operationId: string;
  tags: readonly string[];
  summary: string;
  description?: string;
  security: readonly Readonly<Record<string, unknown>>[];
  parameters?: readonly { $ref: string }[];
  requestBody?: { content: Content };
  responses: Readonly<Record<string, { description: string; content?: Content }>>;
}

export interface OpenApiDocument {
  info: { description: string };
  tags: readonly { name: string; description: string }[];
  paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  components: {
    schemas: Readonly<Record<string, Schema>>;
    parameters: Readonly<Record<string, ApiParameter>>;
  };
}

export interface ApiOperation {
  id: string;
  group: string;
  method: string;
  path: string;
  summary: string;
  description: string;
  /** What a request must present. */
  needs: 'key' | 'admin' | 'nothing';
  parameters: readonly ApiParameter[];
  body: { type: string; schema: Schema } | undefined;
  responses: readonly {
    status: string;
    description: string;
    types: readonly string[];
    schema: Schema | undefined;
  }[];
}

export function operationsOf({ paths, components }: OpenApiDocument): ApiOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => {
      const [body] = Object.entries(raw.requestBody?.content ?? {});
      const isForOperators = raw.security.some((one) => 'admin' in one);
      return {
        id: raw.operationId,
        group: raw.tags[0] ?? '',
        method: method.toUpperCase(),
        path,
        summary: raw.summary,
        description: raw.description ?? '',
        needs: isForOperators ? 'admin' : raw.security.length > 0 ? 'key' : 'nothing',
        parameters: (raw.parameters ?? []).map(({ $ref }) => components.parameters[lastPart($ref)]!),
        body: body && { type: body[0], schema: body[1].schema },
        responses: Object.entries(raw.responses).map(([status, { description, content = {} }]) => ({
          status,
          description,
          types: Object.keys(content),
          schema: content['application/json']?.schema,
        })),
      };
    }),
  );
}

/** Follows a reference to a named schema. */
export function resolveSchema(schema: Schema, { components }: OpenApiDocument): Schema {
  return schema.$ref ? (components.schemas[lastPart(schema.$ref)] ?? {}) : schema;
}

/** How a value is called: `string`, `array of number`, `daily | weekly`. */
export function typeName(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.join(' | ');
  if (schema.$ref) return lastPart(schema.$ref);
  if (schema.anyOf) return [...new Set(schema.anyOf.map(typeName))].join(' or ');
  if (schema.type === 'array') return `array of ${typeName(schema.items ?? {})}`;
  if (typeof schema.additionalProperties === 'object')
    return `map of ${typeName(schema.additionalProperties)}`;
  return schema.format ?? schema.type ?? 'any';
}

/** A body to start from: the required fields, or all if none is required. */
export function exampleBody(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  if (schema.anyOf) return exampleBody(schema.anyOf[0]!);
  if (schema.properties) {
    const names = schema.required?.length ? schema.required : Object.keys(schema.properties);
    return Object.fromEntries(names.map((name) => [name, exampleBody(schema.properties![name]!)]));
  }
  if (schema.type === 'object') return {};
  if (schema.type === 'array') return [exampleBody(schema.items ?? {})];
  if (schema.type === 'boolean') return true;
  if (schema.type === 'number' || schema.type === 'integer')
    return Math.min(Math.max(100, schema.minimum ?? 0), schema.maximum ?? Number.POSITIVE_INFINITY);
  return schema.format === 'date' ? '2024-03-28' : '';
}

function lastPart(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1);
}
