/** The parts of a request's URL, found without building a URL object. */
export interface Target {
  path: string;
  /** What follows the question mark, still encoded. */
  query: string;
}

/** The maximum length of path and query, in characters. */
export const URL_LENGTH_MAX = 8_192;

export function readTarget(url: string): Target {
  // Without a usable Host (HTTP/1.0 health checks send none), Bun returns only the path.
  // CONNECT names only a host, which matches no path.
  const start = url.startsWith('/') ? 0 : Math.max(0, url.indexOf('/', url.indexOf('//') + 2));
  const mark = url.indexOf('?', start);
  const path = mark < 0 ? url.slice(start) : url.slice(start, mark);
  return { path, query: mark < 0 ? '' : url.slice(mark + 1) };
}

/** A decoded parameter, with every value that was sent. */
export interface QueryParam {
  readonly name: string;
  readonly values: readonly string[];
  /** Whether an endpoint has read it. Otherwise it has no effect, which can be reported. */
  readonly isRead: boolean;
}

interface OwnParam extends QueryParam {
  values: string[];
  isRead: boolean;
}

/** With more parameters, looking through the list takes longer than a lookup in a map. */
const LISTED_MAX = 16;

/** The decoded parameters of a query string, in the order sent. */
export class QueryParams implements Iterable<QueryParam> {
  readonly #params: OwnParam[] = [];
  #byName: Map<string, OwnParam> | undefined;
  #superseded: { names: readonly string[]; by: string } | undefined;

  constructor(params: Iterable<readonly [name: string, values: readonly string[]]> = []) {
    for (const [name, values] of params) for (const value of values) this.add(name, value);
  }

  /** Reads the values of a parameter. */
  get(name: string): readonly string[] | undefined {
    const param = this.#find(name);
    if (!param) return undefined;
    param.isRead = true;
    return param.values;
  }

  has(name: string): boolean {
    return this.#find(name) !== undefined;
  }

  /** Records why parameters are not read, sent or not: another one replaces them. */
  supersede(names: readonly string[], by: string): void {
    this.#superseded = { names, by };
  }

  /** The parameter of this request that replaces another one. */
  supersededBy(name: string): string | undefined {
    return this.#superseded?.names.includes(name) ? this.#superseded.by : undefined;
  }

  add(name: string, value: string): void {
    const known = this.#find(name);
    if (known) {
      known.values.push(value);
      return;
    }
    const param = { name, values: [value], isRead: false };
    this.#params.push(param);
    if (this.#params.length > LISTED_MAX) {
      this.#byName ??= new Map(this.#params.map((one) => [one.name, one]));
      this.#byName.set(name, param);
    }
  }

  /** A copy with another value of one parameter. */
  with(name: string, value: string): QueryParams {
    const others = this.#params.filter((param) => param.name !== name);
    return new QueryParams([...others.map((param) => [param.name, param.values] as const), [name, [value]]]);
  }

  [Symbol.iterator](): Iterator<QueryParam> {
    return this.#params[Symbol.iterator]();
  }

  #find(name: string): OwnParam | undefined {
    if (this.#byName) return this.#byName.get(name);
    for (const param of this.#params) if (param.name === name) return param;
    return undefined;
  }
}

export function readQuery(text: string): QueryParams {
  const query = new QueryParams();
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf('&', start);
    const end = found < 0 ? text.length : found;
    if (end > start) addPair(query, text.slice(start, end));
    start = end + 1;
  }
  return query;
}

function addPair(query: QueryParams, pair: string): void {
  const equals = pair.indexOf('=');
  if (equals < 0) query.add(decode(pair), '');
  else query.add(decode(pair.slice(0, equals)), decode(pair.slice(equals + 1)));
}

/**
 * The name of a parameter in lower case and without separators. An `&` that was escaped for HTML leaves `amp;` in front of the
 * next name.
 */
export function plainName(name: string): string {
  return name
    .toLowerCase()
    .replace(/^amp;/, '')
    .replace(/[^a-z]/g, '');
}

/** The parts of a text that are not empty. */
export function partsOf(text: string, separator: string): string[] {
  const parts: string[] = [];
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf(separator, start);
    const end = found < 0 ? text.length : found;
    if (end > start) parts.push(text.slice(start, end));
    start = end + 1;
  }
  return parts;
}

/** Decodes one name or value. An invalid escape is left unchanged. */
export function decode(text: string): string {
  const spaced = text.includes('+') ? text.replaceAll('+', ' ') : text;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return spaced; // a broken escape stands for itself, and is refused where it is read
  }
}
