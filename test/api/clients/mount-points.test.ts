import { expect, test } from 'bun:test';
import { openApiDocument } from '../../../src/api/openapi/document.ts';
import { apiOn, expectRefusal, type Json } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';

const PATHS = [
  '/symbols',
  '/rates/latest',
  '/rates/historical',
  '/rates/time-series',
  '/rates/fluctuation',
  '/rates/revisions',
  '/rates/history',
  '/usage',
];
const QUERY = '?symbols=XAU&date=2024-05-14&startDate=2024-05-14&endDate=2024-05-14';

onEachEngine('mount points', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });

  for (const path of PATHS) {
    test(`${path} is the same under / and /v1, with and without a trailing slash`, async () => {
      const plain = await api.ask(path + QUERY);
      expect(plain.status).toBe(200);
      const strip = (text: string) => text.replace(/"(used|remaining)":\d+/g, '');
      for (const mount of ['', '/v1']) {
        for (const slash of ['', '/']) {
          const { text } = await api.ask(mount + path + slash + QUERY);
          expect(strip(text), mount + path + slash).toBe(strip(plain.text));
        }
      }
    });
  }

  test('other prefixes and other letter cases are not found', async () => {
    for (const path of ['/v4/symbols', '/v1/v1/symbols', '/Symbols', '/v1']) {
      expectRefusal(await api.ask(path), 404, 'not_found');
    }
  });
});

onEachEngine('a custom list of mount points', (engine) => {
  const api = apiOn(engine, {
    settings: { OPENPIT_MOUNTS: '/api/rates-service,/v9, /v1.0/commodity=v2,/api/v3' },
  });

  test('is the only place where the API is served, and hints use it', async () => {
    expect((await api.ask('/api/rates-service/symbols')).status).toBe(200);
    expect((await api.ask('/v9/symbols/')).status).toBe(200);
    expectRefusal(await api.ask('/v1/symbols'), 404, 'not_found');
    expect(expectRefusal(await api.ask('/v9/latest'), 404, 'not_found')).toContain('/v9/rates/latest');
    const hint = expectRefusal(await api.ask('/symbols'), 404, 'not_found');
    expect(hint).toContain('/api/rates-service/symbols');
  });

  test('a path is assigned a version, or names it in its last part', async () => {
    const { service } = api;
    expect(service.config.mounts).toEqual([
      { path: '/api/rates-service', dialect: 'v1' },
      { path: '/v9', dialect: 'v1' },
      { path: '/v1.0/commodity', dialect: 'v2' },
      { path: '/api/v3', dialect: 'v3' },
    ]);
    expect((await api.ask('/v9/latest')).body.error).toBeUndefined();
    expect((await api.ask('/v1.0/commodity/rates/latest')).body.error).toBe('VALIDATION_ERROR');
    expect((await api.ask('/v1.0/commodity/nowhere')).body.error).toBe('DATA_NOT_FOUND');
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    expect((await api.ask('/api/v3/rates/latest?symbols=XAU,NOPE')).status).toBe(206);
    expect((await api.ask('/v1.0/commodity/rates/latest?symbols=XAU,NOPE')).status).toBe(404);
  });

  test('health stays at the root', async () => {
    expect((await api.ask('/health')).status).toBe(200);
  });

  test('the OpenAPI document describes these versions and no others', async () => {
    const { info } = (await api.ask('/openapi.json')).body as { info: { description: string } };
    expect(info.description).toContain(
      'v1 under /api/rates-service and /v9, v2 under /v1.0/commodity, v3 under /api/v3.',
    );
    const only = openApiDocument('1', [{ path: '/api', dialect: 'v1' }]);
    expect(JSON.stringify(only.info)).not.toMatch(/v2|v3/);
    expect(only['x-versions']).toEqual([expect.objectContaining({ name: 'v1' })]);
  });

  test('the OpenAPI document names it, and the root for what stays there', async () => {
    const { servers, paths } = (await api.ask('/openapi.json')).body as {
      servers: Json[];
      paths: Record<string, { get?: Json }>;
    };
    expect(servers).toEqual([{ url: '/api/rates-service' }]);
    expect(paths['/rates/latest']!.get!.servers).toBeUndefined();
    for (const path of ['/health', '/admin/plans']) {
      expect(paths[path]!.get!.servers).toEqual([{ url: '/' }]);
    }
  });
});
