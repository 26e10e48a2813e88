import { expect, test } from 'bun:test';
import { OPENAPI, openApiFromCode, readmeFromCode } from '../scripts/docs.ts';
import { RELIABILITY, reliabilityFromResults } from './process/faults/doc.ts';

test('the table of settings in the README is the one in the code (npm run docs writes it)', async () => {
  const { before, after } = await readmeFromCode();
  expect(before).toBe(after);
});

test('docs/openapi.json is the document that the code serves (npm run docs writes it)', async () => {
  expect(await Bun.file(OPENAPI).text()).toBe(openApiFromCode());
});

test('docs/reliability.md is what `npm run faults` has found', async () => {
  expect(await Bun.file(RELIABILITY).text()).toBe(await reliabilityFromResults());
});
