/** A JSON value. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** The response of one service to one request. */
export interface ServiceResponse {
  status: number;
  body: JsonValue;
}

/** Where two responses differ. `shape`: members and types; `date`: which days there are; `value`: everything else. */
export interface Difference {
  kind: 'shape' | 'date' | 'value';
  /** The path of the member, for example `rates.XAU.close`. */
  at: string;
  base: string;
  other: string;
}

/** What differs by nature, or says where a price comes from. */
const IGNORED: ReadonlySet<string> = new Set(['timestamp', 'source', 'at', 'stale', 'name', 'category']);

/** What each service words in its own way: only their presence is compared. */
const TEXTS: ReadonlySet<string> = new Set(['message', 'path']);

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Where `other` differs from `base`. Members that only `other` has are additions, which do not break a client of `base`.
 * Numbers may differ by `tolerancePercent`.
 */
export function differencesOf(
  base: ServiceResponse,
  other: ServiceResponse,
  tolerancePercent: number,
): Difference[] {
  const compare = new Comparison(tolerancePercent);
  if (base.status !== other.status) {
    compare.add('shape', 'status', statusText(base), statusText(other));
  } else {
    compare.values('', base.body, other.body);
  }
  return compare.found;
}

/** The members that only `other` has, as paths. Those inside an added member are not listed, and neither are days, which are differences. */
export function additionsOf(base: ServiceResponse, other: ServiceResponse): string[] {
  return base.status === other.status ? addedTo('', base.body, other.body) : [];
}

function addedTo(at: string, base: JsonValue, other: JsonValue): string[] {
  if (!isObject(base) || !isObject(other)) return [];
  return Object.entries(other).flatMap(([name, value]) => {
    if (IGNORED.has(name)) return [];
    const inside = at === '' ? name : `${at}.${name}`;
    const own = base[name];
    if (own !== undefined) return addedTo(inside, own, value);
    return DAY.test(name) ? [] : [inside];
  });
}

class Comparison {
  readonly found: Difference[] = [];
  readonly #tolerance: number;

  constructor(tolerancePercent: number) {
    this.#tolerance = tolerancePercent / 100;
  }

  add(kind: Difference['kind'], at: string, base: string, other: string): void {
    this.found.push({ kind, at, base, other });
  }

  values(at: string, base: JsonValue, other: JsonValue): void {
    if (typeOf(base) !== typeOf(other)) {
      this.add('shape', at, print(base), print(other));
    } else if (isObject(base) && isObject(other)) {
      this.#members(at, base, other);
    } else if (typeof base === 'number' && typeof other === 'number') {
      this.#numbers(at, base, other);
    } else if (!Array.isArray(base) && base !== other) {
      this.add(DAY.test(String(base)) ? 'date' : 'value', at, print(base), print(other));
    }
  }

  #members(at: string, base: JsonObject, other: JsonObject): void {
    for (const [name, value] of Object.entries(base)) {
      if (IGNORED.has(name)) continue;
      const inside = at === '' ? name : `${at}.${name}`;
      const own = other[name];
      if (own === undefined) this.add(DAY.test(name) ? 'date' : 'shape', inside, print(value), 'missing');
      else if (!TEXTS.has(name)) this.values(inside, value, own);
    }
    for (const [name, value] of Object.entries(other)) {
      const isNewDay = DAY.test(name) && base[name] === undefined;
      if (isNewDay) this.add('date', `${at}.${name}`, 'missing', print(value));
    }
  }

  #numbers(at: string, base: number, other: number): void {
    if (Math.abs(other - base) <= this.#tolerance * Math.abs(base)) return;
    const factor = other / base;
    const isCents = [100, 0.01].some(
      (cents) => Math.abs(factor / cents - 1) <= Math.max(this.#tolerance, 0.2),
    );
    this.add('value', at, String(base), isCents ? `${other} (one of them is in cents)` : String(other));
  }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function typeOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

const PRINTED_MAX = 60;

function print(value: JsonValue): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > PRINTED_MAX ? `${text.slice(0, PRINTED_MAX)}…` : text;
}

function statusText({ status, body }: ServiceResponse): string {
  const message = isObject(body) ? (body.message ?? body.error) : undefined;
  return typeof message === 'string' ? `${status}: ${print(message)}` : String(status);
}
