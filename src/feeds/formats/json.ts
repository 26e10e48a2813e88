import { z } from 'zod';
import { textOf } from './body.ts';

/** Ten times as many as any provider sends: FRED's longest history has 100,000, a page of EIA 60,000. */
const VALUES_MAX = 1_000_000;
/** Yahoo's chart, the deepest body of a provider, has 7 levels. */
const DEPTH_MAX = 64;

/**
 * Parses and validates a JSON body. Errors name the place but never quote the body, which may echo the API key of the
 * request.
 */
export function readJson<T>(body: Uint8Array, shape: z.ZodType<T>): T {
  const text = textOf(body, 'JSON');
  requireBounded(text);
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error('the JSON is incomplete or not well formed; it may be truncated');
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue?.path.length ? issue.path.map(String).join('.').slice(0, 100) : 'the top';
  throw new Error(`the JSON does not have the expected structure: at ${place}, ${expected(issue)}`);
}

/** A number, or a number as text: providers switch between the two. */
export const numeric = z.union([z.number(), z.string(), z.null()]);

/** An array that is validated up to its first wrong item: Zod's own array reports every one, at 500 bytes each. */
export function list<T>(item: z.ZodType<T>): z.ZodType<T[]> {
  return z.array(z.unknown()).transform((items, context) => {
    const checked: T[] = [];
    for (const [i, one] of items.entries()) {
      const parsed = item.safeParse(one);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        context.addIssue({ code: 'custom', path: [i, ...(issue?.path ?? [])], message: issue?.message });
        return z.NEVER;
      }
      checked.push(parsed.data);
    }
    return checked;
  });
}

function expected(issue: z.core.$ZodIssue | undefined): string {
  return issue?.code === 'invalid_type' ? `${issue.expected} was expected` : 'something else was expected';
}

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts values and levels before parsing: parsed, the 3 bytes of `[],` take 20 times as much memory. Outside of strings
 * every value follows a comma or an opening bracket.
 */
function requireBounded(text: string): void {
  let values = 1;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    if (char === QUOTE) {
      i = endOfString(text, i + 1);
    } else if (char === OPEN_ARRAY || char === OPEN_OBJECT) {
      values++;
      if (++depth > DEPTH_MAX) throw new Error(`the JSON is nested more than ${DEPTH_MAX} levels deep`);
    } else if (char === CLOSE_ARRAY || char === CLOSE_OBJECT) depth--;
    else if (char === COMMA) values++;
    if (values > VALUES_MAX) throw new Error(`the JSON has more than ${VALUES_MAX} values`);
  }
}

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start);
  while (end > 0 && isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end < 0 ? text.length : end;
}

/** An odd number of backslashes before a quote makes it part of the string. */
function isEscaped(text: string, quote: number): boolean {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (quote - first) % 2 === 1;
}
