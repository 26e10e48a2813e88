/** One choice of a header such as `Accept` or `Accept-Encoding`. */
export interface Preference {
  /** In lower case, without parameters. */
  value: string;
  /** 1 unless `q` says otherwise; 0, or a `q` that is not a number, means "not acceptable". */
  quality: number;
}

/** The choices of a header with quality values (RFC 9110, 12.4.2), in the order given. */
export function parsePreferences(header: string): Preference[] {
  return header.split(',').map((part) => {
    const [value = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { value, quality: q === undefined ? 1 : Number(q) || 0 };
  });
}
