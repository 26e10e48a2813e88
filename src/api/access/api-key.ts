import { isWellFormed } from '../../gate/key.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { refuse } from '../errors/errors.ts';
import { plainName, type QueryParams } from '../model/query.ts';

/** The API key of a request, and whether it is in the URL. */
export interface SentKey {
  text: string;
  inUrl: boolean;
}

type Headers = IncomingRequest['headers'];

export const KEY_HEADER = 'x-api-key';

/** Headers in which other services expect a key. */
export const OTHER_KEY_HEADERS = [
  'authorization',
  'x-apikey',
  'apikey',
  'api-key',
  'x-access-token',
  'x-access-key',
  'x-auth-token',
  'x-rapidapi-key',
] as const;

/** Names of parameters in which other services expect a key, in lower case and without separators. */
const KEY_NAMES: ReadonlySet<string> = new Set([
  'apikey',
  'accesskey',
  'xapikey',
  'key',
  'token',
  'accesstoken',
  'appid',
]);

/** Whether a parameter of this name has a key as its value. */
export function isKeyName(name: string): boolean {
  return KEY_NAMES.has(plainName(name));
}

/** The key in the header `x-api-key`. The same value twice counts as one: proxies and client libraries both may add it. */
export function keyInHeader(headers: Headers): SentKey | undefined {
  const text = headers.get(KEY_HEADER)?.trim();
  if (!text) return undefined;
  return { text: text.includes(',') ? onlyValue(text) : text, inUrl: false };
}

function onlyValue(list: string): string {
  const values = [...new Set(list.split(',').map((value) => value.trim()))];
  if (values.length === 1) return values[0]!;
  if (values.every(isWellFormed)) throw refuse('repeated_parameter', { header: KEY_HEADER });
  return list;
}

/**
 * A key in a header or parameter of another name. Its pattern and checksum make it unmistakable; anything else in such a place
 * is left alone.
 */
export function misplacedKey(headers: Headers, query: QueryParams): SentKey | undefined {
  for (const name of OTHER_KEY_HEADERS) {
    const text = withoutScheme(headers.get(name) ?? '');
    if (isWellFormed(text)) return { text, inUrl: false };
  }
  for (const { name, values } of query) {
    const text = values[0]!.trim();
    if (isKeyName(name) && isWellFormed(text)) return { text, inUrl: true };
  }
  return undefined;
}

/** Where the request has something that may be meant as a key, for the message that it has none. */
export function namesOfMisplacedKeys(headers: Headers, query: QueryParams): string[] {
  const inHeaders = OTHER_KEY_HEADERS.filter((name) => headers.get(name)?.trim());
  const inUrl = [...query].filter(
    ({ name, values }) => isKeyName(name) && values.some((value) => value.trim()),
  );
  return [
    ...inHeaders.map((name) => `the header "${name}"`),
    ...inUrl.map(({ name }) => `the parameter "${name.slice(0, NAME_LENGTH_MAX)}"`),
  ];
}

/** Names with separators can be longer than the ones they stand for. */
const NAME_LENGTH_MAX = 32;

/** `Authorization: Bearer KEY`, `Token KEY` or `ApiKey KEY`. */
function withoutScheme(value: string): string {
  return value.trim().replace(/^(bearer|token|apikey) +/i, '');
}
