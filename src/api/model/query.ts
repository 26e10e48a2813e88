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

/**
 * The decoded parameters of a query string: by name, every value that was sent. It remembers which were read, so that a
 * parameter without effect can be reported.
 */
export class QueryParams implements Iterable<[name: string, values: readonly string[]]> {
  readonly #values: ReadonlyMap<string, readonly string[]>;
  readonly #namesRead: string[] = [];

  constructor(values: ReadonlyMap<string, readonly string[]>) {
    this.#values = values;
  }

  get(name: string): readonly string[] | undefined {
    this.#namesRead.push(name);
    return this.#values.get(name);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  isRead(name: string): boolean {
    return this.#namesRead.includes(name);
  }

  /** A copy with another value of one parameter. */
  with(name: string, value: string): QueryParams {
    return new QueryParams(new Map([...this.#values, [name, [value]]]));
  }

  [Symbol.iterator](): Iterator<[string, readonly string[]]> {
    return this.#values[Symbol.iterator]();
  }
}

export function readQuery(text: string): QueryParams {
  const query = new Map<string, string[]>();
  for (const pair of partsOf(text, '&')) {
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1));
    const values = query.get(name);
    if (values) values.push(value);
    else query.set(name, [value]);
  }
  return new QueryParams(query);
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

export const NOT_PLAIN = 'must be whole Unicode without control characters';

/**
 * Whether a text can be a name or an id: PostgreSQL stores no NUL, terminals interpret escapes, and databases do not distinguish
 * unpaired surrogates.
 */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
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
