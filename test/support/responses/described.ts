import { z } from 'zod';
import type { Json } from '../api.ts';

export interface DescribedParameter {
  name: string;
  in: 'query' | 'path' | 'header';
  required: boolean;
  schema: Json;
  example?: string;
}

/** One operation of the document, with its references resolved. */
export interface DescribedOperation {
  method: string;
  path: string;
  parameters: readonly DescribedParameter[];
  /** The schema of the body, if it takes one. */
  body: Json | undefined;
  /** `header`, `admin` or nothing. */
  security: string | undefined;
}

/** A reference, or several of which one applies. */
type Schema = { $ref: string } | { anyOf: { $ref: string }[] };

interface RawOperation {
  parameters?: { $ref: string }[];
  requestBody?: { content: Record<string, { schema: Json }> };
  security: Record<string, unknown>[];
  responses: Record<string, { headers: Json; content: Record<string, { schema: Schema }> }>;
}

type Paths = Record<string, Record<string, RawOperation>>;

interface Components {
  schemas: Record<string, Json>;
  parameters: Record<string, DescribedParameter>;
}

/** The OpenAPI document of the service, for generating requests and validating responses. */
export class Described {
  readonly operations: readonly DescribedOperation[];
  readonly #paths: Paths;
  readonly #components: Components;
  readonly #checks = new Map<string, z.ZodType>();

  constructor(document: Json) {
    this.#paths = document.paths as Paths;
    this.#components = document.components as Components;
    this.operations = Object.entries(this.#paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, raw]) => ({
        method: method.toUpperCase(),
        path,
        parameters: (raw.parameters ?? []).map(({ $ref }) => this.#components.parameters[nameIn($ref)]!),
        body: raw.requestBody?.content['application/json']?.schema,
        security: Object.keys(raw.security[0] ?? {})[0],
      })),
    );
  }

  /** A validator for the response of an operation. Throws when the document does not describe the status. */
  answer(method: string, path: string, status: number): z.ZodType {
    return this.#checks.getOrInsertComputed(`${method} ${path} ${status}`, () => {
      const response = this.#response(method, path, status);
      const { schema } = response.content['application/json'] ?? Object.values(response.content)[0]!;
      const refs = 'anyOf' in schema ? schema.anyOf : [schema];
      const schemas = refs.map(({ $ref }) => this.#components.schemas[nameIn($ref)]);
      return z.fromJSONSchema({ anyOf: schemas } as Parameters<typeof z.fromJSONSchema>[0]);
    });
  }

  /** The names of the headers that a response may have, in lower case. */
  headers(method: string, path: string, status: number): Set<string> {
    const { headers } = this.#response(method, path, status);
    return new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  }

  #response(method: string, path: string, status: number): RawOperation['responses'][string] {
    const response = this.#paths[path]?.[method.toLowerCase()]?.responses[status];
    if (!response) throw new Error(`${method} ${path} does not describe the status ${status}`);
    return response;
  }
}

function nameIn(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}
