import type { z } from 'zod';

/** Problems to name; one mistake can be in every entry of a list. */
const PROBLEMS_SHOWN = 10;
const RECEIVED_CHARACTERS_MAX = 60;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
};

const FORMATS: Readonly<Record<string, string>> = {
  date: 'must be a day that exists, as YYYY-MM-DD',
  datetime: 'must be a time such as 2026-07-15T14:00:00Z',
};

/** What is wrong with a body that its schema refuses: each field, what is allowed and what was received. */
export function bodyProblems({ issues }: z.ZodError, body: unknown): string[] {
  return issues
    .slice(0, PROBLEMS_SHOWN)
    .map((issue) => issueText(issue, issue.path, valueAt(body, issue.path)));
}

/** One problem of the value at `path`; without a path, of the whole. */
export function issueText(issue: z.core.$ZodIssue, path: readonly PropertyKey[], value: unknown): string {
  const field = path.join('.');
  if (issue.code === 'unrecognized_keys')
    return `there is no field ${[field, issue.keys.join(', ')].filter(Boolean).join('.')}`;
  const rule = ruleOf(issue);
  if (field === '') return `it ${rule}`;
  if (value === undefined) return `${field} is missing: it ${rule}`;
  return `${field} ${rule} (received ${receivedText(value)})`;
}

/** A received value, shortened. A list or an object is not quoted: it may be nested too deeply for that. */
export function receivedText(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '[]' : 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value !== 'string') return String(value); // 1e999 has become Infinity, which JSON cannot name
  const isLong = value.length > RECEIVED_CHARACTERS_MAX;
  return isLong ? `${JSON.stringify(value.slice(0, RECEIVED_CHARACTERS_MAX))}…` : JSON.stringify(value);
}

/** The value at a path; undefined if there is none. */
export function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return found;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${EXPECTED[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? issue.message;
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'must not be empty'
        : `must be at least ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `may have at most ${issue.maximum} characters`;
      return issue.origin === 'array'
        ? `may have at most ${issue.maximum} entries`
        : `must be at most ${issue.maximum}`;
    default:
      return issue.message; // one of our own, such as "must be at most 32 capital letters"
  }
}
