import { expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import packageJson from '../../client/package.json';
import { CLIENT_TYPES, clientTypesFromDocument } from '../../scripts/client-types.ts';
import { OPENAPI } from '../../scripts/docs.ts';
import { ERROR_STATUSES } from '../../src/api/errors/errors.ts';
import { bundledClient } from './bundled-client.ts';

const GZIPPED_BYTES_MAX = 5 * 1024;

test('the types of the client are those of docs/openapi.json (npm run docs writes them)', async () => {
  expect(await Bun.file(CLIENT_TYPES).text()).toBe(
    await clientTypesFromDocument(await Bun.file(OPENAPI).json()),
  );
});

test('the types know every error code of the service', async () => {
  const types = await Bun.file(CLIENT_TYPES).text();
  for (const { code } of ERROR_STATUSES) expect(types).toContain(`| '${code}'`);
});

test('the client takes at most 5 KB, minified and compressed', async () => {
  const bytes = gzipSync(await bundledClient({ minify: true }), { level: 9 }).length;
  expect(bytes).toBeLessThanOrEqual(GZIPPED_BYTES_MAX);
});

test('the client has no dependencies', () => {
  expect(Object.keys(packageJson)).not.toContain('dependencies');
  expect(Object.keys(packageJson)).not.toContain('peerDependencies');
});
