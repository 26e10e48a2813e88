import { expect, test } from 'bun:test';
import { renderSources, SOURCES_PAGE } from '../../../scripts/sources.ts';

test('docs/sources.md matches the providers; bun scripts/sources.ts regenerates it', async () => {
  expect(await Bun.file(SOURCES_PAGE).text()).toBe(renderSources());
});
