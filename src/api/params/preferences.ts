import { BoundedCache, copyText } from '../../runtime/bounded-cache.ts';

/** One choice of a header such as `Accept` or `Accept-Encoding`. */
export interface Preference {
  /** In lower case, without parameters. */
  value: string;
  /** 1 unless `q` says otherwise; 0, or a `q` that is not a number, means "not acceptable". */
  quality: number;
}

/** Until the service sets its own limit. */
const BYTES_MAX_DEFAULT = 256 * 1024;
const CHOICE_BYTES = 150;
/** Longer headers are parsed each time. */
const LENGTH_MAX = 200;

/** Parsed headers. There are as many as there are kinds of clients. */
export const preferencesCache = new BoundedCache<string, readonly Preference[]>({
  bytesMax: BYTES_MAX_DEFAULT,
});

/** The choices of a header with quality values (RFC 9110, 12.4.2), in the order given. */
export function parsePreferences(header: string): readonly Preference[] {
  const known = preferencesCache.get(header);
  if (known) return known;
  const parsed = header.split(',').map(parseChoice);
  if (header.length <= LENGTH_MAX) {
    preferencesCache.set(copyText(header), parsed, CHOICE_BYTES * parsed.length);
  }
  return parsed;
}

function parseChoice(text: string): Preference {
  const [value = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return { value: copyText(value), quality: q === undefined ? 1 : Number(q) || 0 };
}
