import { decode } from '../model/query.ts';

const PARAMETER = 'apiKey=';

/** A URL, split into the request and the API key. */
export interface SplitUrl {
  /** Path and query without the API key. */
  readonly withoutKey: string;
  /** The API key in the URL. */
  readonly key: string | undefined;
}

/** A second key, perhaps with its name escaped: the escape of a letter starts with %4, %5, %6 or %7. */
const ANOTHER_KEY = /apiKey|%[4-7]/;

/**
 * Separates an API key from a URL, so that customers who request the same data share a cached answer. A key that is written
 * in an unusual way (an escaped name, a repeated parameter) stays in the URL, and reading all parameters accepts or refuses
 * it.
 */
export function splitKey(url: string): SplitUrl {
  const mark = url.indexOf('?');
  const at = mark < 0 ? -1 : url.indexOf(PARAMETER, mark);
  if (at < 0 || (at > mark + 1 && url[at - 1] !== '&')) return { withoutKey: url, key: undefined };
  const valueAt = at + PARAMETER.length;
  const next = url.indexOf('&', valueAt);
  const isLast = next < 0;
  const withoutKey = isLast ? url.slice(0, at - 1) : url.slice(0, at) + url.slice(next + 1);
  if (ANOTHER_KEY.test(withoutKey)) return { withoutKey: url, key: undefined };
  return { withoutKey, key: decode(url.slice(valueAt, isLast ? url.length : next)).trim() };
}
