import type { z } from 'zod';
import { issueText, valueAt } from '../../api/params/body-problems.ts';

/** Problems to print; one mistake can be in every symbol. */
const PROBLEMS_SHOWN = 20;

/** What is wrong with a file of symbols, with the number and the code of each, the field and what is allowed. */
export function symbolProblems(error: z.ZodError, file: unknown): string {
  const lines = error.issues.slice(0, PROBLEMS_SHOWN).map((issue) => `  ${problemOf(issue, file)}`);
  const more = error.issues.length - lines.length;
  return [...lines, ...(more > 0 ? [`  … and ${more} more`] : [])].join('\n');
}

function problemOf(issue: z.core.$ZodIssue, file: unknown): string {
  const [index, ...path] = issue.path;
  if (typeof index !== 'number') return 'it must be a list: [{"code": …}, …]';
  const code = valueAt(file, [index, 'code']);
  const name = typeof code === 'string' && code !== '' ? ` (${JSON.stringify(code.slice(0, 40))})` : '';
  return `symbol ${index + 1}${name}: ${issueText(issue, path, valueAt(file, issue.path))}`;
}
