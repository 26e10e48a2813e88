import type { Json } from '../api.ts';
import type { DescribedOperation, DescribedParameter } from '../responses/described.ts';
import type { Seeded } from '../seeded.ts';

export interface MadeRequest {
  operation: DescribedOperation;
  target: string;
  body: string | undefined;
  headers: Record<string, string>;
}

/** What is known about the service, so that some requests are valid. */
export interface Known {
  /** Keys and tokens by the name of their scheme; the first is valid. */
  secrets: Readonly<Record<string, readonly string[]>>;
  /** Valid values of parameters, by name. */
  values: Readonly<Record<string, readonly string[]>>;
  ids: KnownIds;
}

const IDS_MAX = 40;

/** Ids from responses, by what they identify: a request about a key uses the id of a key, most of the time. */
export class KnownIds {
  readonly #byKind: Map<string, string[]>;
  readonly #excluded: ReadonlySet<string>;

  /** `excluded` must never be used: the test needs them. */
  constructor(first: Record<string, string[]>, excluded: ReadonlySet<string>) {
    this.#byKind = new Map(Object.entries(first));
    this.#excluded = excluded;
  }

  /** What the last fixed part of a path names, of an operator or of an account: `admin keys`. */
  static kindOf(path: string): string {
    const [area, ...parts] = path.split('/{id}')[0]!.split('/').filter(Boolean);
    return `${area} ${parts.at(-1)}`;
  }

  add(kind: string, id: string, chance: Seeded): void {
    if (this.#excluded.has(id)) return;
    const ids = this.#byKind.getOrInsert(kind, []);
    if (ids.length < IDS_MAX) ids.push(id);
    else ids[chance.below(IDS_MAX)] = id;
  }

  pick(kind: string, chance: Seeded): string {
    const ids = this.#byKind.get(kind);
    if (ids && !chance.isOneIn(4)) return chance.pick(ids);
    return chance.pick([...this.#byKind.values()].flat());
  }
}

/** Values that break services. */
const NASTY = [
  ...['', ' ', ',', '0', '-1', '1e309', 'NaN', 'null', 'true', '[]', '{}', '*', '%', '%00', '..', '\ud83d'],
  ...['\u0000', '\r\nX: 1', '\u202e', '🛢️', 'ﬀ', "' OR 1=1 --", '<script>', '__proto__', 'constructor'],
  ...['2024-02-30', '0000-00-00', '9999-99-99', '2199-12-31', '1900-01-01', '2024-03-28T10:00:00Z'],
  ...['x'.repeat(300), 'XAU,'.repeat(50), 'é'.repeat(100)],
];

/** Generates a request to an operation: as described, or wrong in one or more ways. */
export function makeRequest(operation: DescribedOperation, known: Known, chance: Seeded): MadeRequest {
  const pairs: string[] = [];
  const headers: Record<string, string> = {};
  let path = operation.path;
  let id = '';
  for (const parameter of operation.parameters) {
    const { name } = parameter;
    const repeatsId = name === 'confirm' && !chance.isOneIn(6);
    const value = repeatsId ? id : encode(valueFor(parameter, operation.path, known, chance));
    if (name === 'id') id = value;
    // An empty segment, or one of dots, is another path.
    if (parameter.in === 'path') path = path.replace(`{${name}}`, /^\.*$/.test(value) ? '%20' : value);
    else if (chance.isOneIn(parameter.required ? 20 : 2)) continue;
    else if (parameter.in === 'query') pairs.push(`${name}=${value}`);
    if (chance.isOneIn(40)) pairs.push(`${name}=${value}`);
  }
  const secrets = known.secrets[operation.security ?? ''];
  const secret = secrets && (chance.isOneIn(10) ? chance.pick(secrets) : secrets[0]!);
  if (secret && operation.security === 'admin') headers.authorization = `Bearer ${secret}`;
  else if (secret && operation.method === 'GET' && chance.isOneIn(3)) pairs.push(`apiKey=${encode(secret)}`);
  else if (secret) headers['x-api-key'] = secret;
  if (chance.isOneIn(10))
    headers.accept = chance.pick(['text/csv', 'application/x-ndjson', 'text/html, */*;q=0.1', 'x']);
  const body = operation.body && bodyOf(operation.body, known, chance);
  if (body !== undefined) headers['content-type'] = chance.isOneIn(20) ? 'text/plain' : 'application/json';
  const query = pairs.length > 0 ? `?${pairs.join('&')}` : '';
  return { operation, target: path + query, body, headers };
}

function valueFor(parameter: DescribedParameter, path: string, known: Known, chance: Seeded): string {
  const { name, schema, example } = parameter;
  if (chance.isOneIn(6)) return chance.pick(NASTY);
  if (name === 'id') return known.ids.pick(KnownIds.kindOf(path), chance);
  const good = known.values[name] ?? (schema.enum as string[] | undefined) ?? [example ?? 'x'];
  return chance.pick(good);
}

/** JSON according to its schema, sometimes wrong in one place, sometimes not JSON at all. */
function bodyOf(schema: Json, known: Known, chance: Seeded): string {
  const text = JSON.stringify(jsonOf(schema, known, chance, ''));
  if (chance.isOneIn(20)) return text.slice(0, chance.below(text.length));
  if (chance.isOneIn(30)) return chance.pick(NASTY);
  return text;
}

function jsonOf(schema: Json, known: Known, chance: Seeded, name: string): unknown {
  if (chance.isOneIn(25)) return chance.pick([null, -1, 1e300, '', [], {}, true, ...NASTY]);
  if (schema.anyOf) return jsonOf(chance.pick(schema.anyOf as Json[]), known, chance, name);
  if (schema.enum) return chance.pick(schema.enum as unknown[]);
  if (schema.type === 'object') {
    const required = (schema.required ?? []) as string[];
    const members = Object.entries((schema.properties ?? {}) as Record<string, Json>)
      .filter(([member]) => required.includes(member) || chance.isOneIn(2))
      .map(([member, own]) => [member, jsonOf(own, known, chance, member)]);
    if (chance.isOneIn(20)) members.push([chance.pick(['__proto__', 'extra', '']), 1]);
    return Object.fromEntries(members);
  }
  if (schema.type === 'array') {
    return Array.from({ length: chance.below(4) }, () => jsonOf(schema.items as Json, known, chance, name));
  }
  if (schema.type === 'boolean') return chance.isOneIn(2);
  if (schema.type === 'integer' || schema.type === 'number') {
    const most = Math.min(Number(schema.maximum ?? 1_000_000), 1_000_000);
    return Number(schema.minimum ?? 0) + chance.below(most);
  }
  return chance.pick(known.values[name] ?? ['x', '10.0.0.0/8', '2024-03-28']);
}

function encode(text: string): string {
  return text.isWellFormed() ? encodeURIComponent(text) : '%ED%A0%80';
}
