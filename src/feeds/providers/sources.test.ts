import { expect, test } from 'bun:test';
import { renderSources, SOURCES_PAGE } from '../../../scripts/sources.ts';

test('docs/sources.md says what the providers say; bun scripts/sources.ts writes it anew', async () => {
  expect(await Bun.file(SOURCES_PAGE).text()).toBe(renderSources());
});
