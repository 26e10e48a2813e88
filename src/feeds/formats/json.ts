import { z } from 'zod';
import { textOf } from './body.ts';

/**
 * A JSON body in the shape that a provider promises. What is wrong is said by its place and never quoted: a body may
 * echo the key that it was asked with.
 */
export function readJson<T>(body: Uint8Array, shape: z.ZodType<T>): T {
  const text = textOf(body, 'JSON');
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new Error('the body is not whole JSON; it may have been cut off');
  }
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const place = issue?.path.length ? issue.path.map(String).join('.').slice(0, 100) : 'the top';
  throw new Error(`the JSON is not in the provider's shape: at ${place}, ${expected(issue)}`);
}

function expected(issue: z.core.$ZodIssue | undefined): string {
  return issue?.code === 'invalid_type' ? `${issue.expected} was expected` : 'something else was expected';
}

/** A number or its text: providers change between the two. */
export const numeric = z.union([z.number(), z.string(), z.null()]);
