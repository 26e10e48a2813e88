import { expect, test } from 'bun:test';
import { readmeFromCode } from '../scripts/docs.ts';

test('the table of settings in the README is the one in the code (npm run docs writes it)', async () => {
  const { before, after } = await readmeFromCode();
  expect(before).toBe(after);
});
