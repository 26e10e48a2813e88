export const PLAIN = 'whole Unicode without control characters';

export const NOT_PLAIN = `must be ${PLAIN}`;

/**
 * Whether a text can be a name or an id: PostgreSQL stores no NUL, terminals interpret escapes, and databases do not distinguish
 * unpaired surrogates.
 */
export function isPlainText(text: string): boolean {
  return text.isWellFormed() && !/\p{Cc}/u.test(text);
}
