import type { z } from 'zod';

/** Problems to print; one mistake can be in every symbol. */
const PROBLEMS_SHOWN = 20;

const EXPECTED: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  array: 'a list',
};

/** What is wrong with a file of symbols, with the number and the code of each, the field and what is allowed. */
export function symbolProblems(error: z.ZodError, file: unknown): string {
  const lines = error.issues.slice(0, PROBLEMS_SHOWN).map((issue) => `  ${problemOf(issue, file)}`);
  const more = error.issues.length - lines.length;
  return [...lines, ...(more > 0 ? [`  … and ${more} more`] : [])].join('\n');
}

function problemOf(issue: z.core.$ZodIssue, file: unknown): string {
  const [index, ...path] = issue.path;
  if (typeof index !== 'number') return 'it must be a list: [{"code": …}, …]';
  const code = at(file, [index, 'code']);
  const name = typeof code === 'string' && code !== '' ? ` (${JSON.stringify(code.slice(0, 40))})` : '';
  return `symbol ${index + 1}${name}: ${mistake(issue, path.join('.'), at(file, issue.path))}`;
}

function mistake(issue: z.core.$ZodIssue, field: string, value: unknown): string {
  if (issue.code === 'unrecognized_keys')
    return `there is no field ${[field, issue.keys.join(', ')].filter(Boolean).join('.')}`;
  const rule = ruleOf(issue);
  if (field === '') return `it ${rule}`;
  if (value === undefined) return `${field} is missing; it ${rule}`;
  const received = JSON.stringify(value);
  return `${field} ${rule} (received ${received.length > 60 ? `${received.slice(0, 60)}…` : received})`;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${EXPECTED[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      if (issue.origin === 'string') return `may have ${issue.maximum} characters`;
      return issue.origin === 'array'
        ? `may have ${issue.maximum} entries`
        : `must be at most ${issue.maximum}`;
    default:
      return issue.message; // one of our own, such as "must be at most 32 capital letters"
  }
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) found = (found as Record<PropertyKey, unknown> | null | undefined)?.[key];
  return found;
}
