import { expect, test } from 'bun:test';
import { renderedFromResults } from './process/faults/doc.ts';

test('docs/reliability.md is what `npm run faults` has found', async () => {
  const { page, committed } = await renderedFromResults();
  expect(committed).toBe(page);
});
