import { describe, expect, test } from 'bun:test';
import { z } from 'zod';
import { openApiDocument } from '../../../src/api/openapi/document.ts';
import { OPERATIONS } from '../../../src/api/openapi/operations.ts';
import type { Parameter } from '../../../src/api/openapi/parameter.ts';
import { PARAMETERS } from '../../../src/api/openapi/parameters.ts';
import { apiOn, expectRefusal, type Json, type Reply } from '../../support/api.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS } from '../../support/operator.ts';
import { Described } from '../../support/responses/described.ts';
import { Seeded } from '../../support/seeded.ts';
import { NOON } from '../../support/service.ts';

const document = openApiDocument('1.2.3');
const described = new Described(document);

describe('the OpenAPI document', () => {
  test('has the shape of OpenAPI 3.1, and every reference resolves', () => {
    const responses = z.record(
      z.string().regex(/^[2-5]\d\d$/),
      z.object({
        description: z.string().min(1),
        headers: z.record(z.string(), z.object({ $ref: z.string() })),
        content: z.record(z.string(), z.object({ schema: z.object() })),
      }),
    );
    const operation = z.object({
      operationId: z.string().regex(/^[a-zA-Z]+$/),
      tags: z.array(z.string()).min(1),
      summary: z.string().min(1),
      security: z.array(z.record(z.string(), z.array(z.string()))),
      responses,
    });
    z.object({
      openapi: z.literal('3.1.0'),
      info: z.object({ title: z.string(), version: z.literal('1.2.3') }),
      paths: z.record(
        z.string().startsWith('/'),
        z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), operation),
      ),
      components: z.object({ schemas: z.record(z.string(), z.object()), securitySchemes: z.object() }),
    }).parse(document);
    const text = JSON.stringify(document);
    for (const [, ref] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = ref!.split('/').reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document);
      expect(found, ref).toBeDefined();
    }
    const ids = [...text.matchAll(/"operationId":"([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(OPERATIONS.length);
  });

  test('describes 304 wherever there is a tag, and 413 wherever there is a body', () => {
    for (const { method, path, tag, body, file, answer } of OPERATIONS) {
      const { responses } = (document.paths as Record<string, Record<string, Json>>)[path]![
        method.toLowerCase()
      ]!;
      const statuses = Object.keys(responses as Json);
      expect(statuses.includes('304'), path).toBe(tag === 'Rates' && answer !== 'StreamRate');
      expect(statuses.includes('413'), path).toBe(body !== undefined || file !== undefined);
    }
  });

  test('the path parameters are exactly the placeholders of each path', () => {
    for (const { path, parameters = [] } of OPERATIONS) {
      expect(parameters.includes('id'), path).toBe(path.includes('{id}'));
    }
  });
});

/** Headers that mean something to a client beyond the message itself. */
const MEANINGFUL =
  /^(etag|link|openpit-.*|ratelimit.*|retry-after|x-request-id|www-authenticate|content-range|accept-ranges)$/;

function expectDescribedHeaders(method: string, path: string, { status, headers }: Reply): void {
  const sent = [...headers.keys()].filter((name) => MEANINGFUL.test(name));
  const known = described.headers(method, path, status);
  expect(
    sent.filter((name) => !known.has(name)),
    `${method} ${path} ${status}`,
  ).toEqual([]);
}

describe('the running service', () => {
  const settings = OPERATOR_SETTINGS;
  const api = apiOn('sqlite', { settings }, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-10': 2340,
      '2024-05-13': [2340, 2360, 2330, 2350],
      '2024-05-14': 2358,
    });
    await service.publish('WTIOIL-FUT', { '2020-04-20': -37.63, '2024-05-14': 78.02 });
    await service.tick('XAU', 2361.5);
    await service.setPlan({ name: 'tight', quota: 3, burstPerSecond: 2 });
  });

  test('serves the document, which has every path of the service', async () => {
    const { body } = await api.ask('/openapi.json', { key: '' });
    const { mounted, root } = api.service.core.api.routes;
    const paths = [
      ...Object.keys(mounted),
      ...Object.keys(root).filter((path) => /^\/(admin|health)/.test(path)),
    ];
    const described = new Set(Object.keys(body.paths as Json));
    for (const path of paths) expect(described, path).toContain(path.replace(':id', '{id}'));
  });

  test('refuses a request that lacks a required parameter', async () => {
    const day = '2024-05-14';
    const values: Record<string, string> = { symbols: 'XAU', date: day, startDate: day, endDate: day };
    const nameOf = (parameter: keyof typeof PARAMETERS) => PARAMETERS[parameter].name;
    for (const { path, method, parameters = [] } of OPERATIONS) {
      if (method !== 'GET') continue; // deletions have their own test
      const required = parameters.filter(
        (name) => PARAMETERS[name].in === 'query' && PARAMETERS[name].required,
      );
      for (const left of required) {
        const others = required.filter((name) => name !== left).map(nameOf);
        const query = others.map((name) => `${name}=${values[name]}`);
        const message = expectRefusal(await api.ask(`${path}?${query.join('&')}`), 400, 'missing_parameter');
        expect(message).toContain(`"${nameOf(left)}"`);
      }
    }
  });

  test('answers with 304 and 413 where the document says so', async () => {
    const paths = ['/symbols', '/rates/latest?symbols=XAU', '/market'];
    for (const path of paths) {
      const { headers } = await api.ask(path);
      const again = await api.ask(path, { headers: { 'if-none-match': headers.get('etag')! } });
      expect(again.status, path).toBe(304);
    }
    const body = JSON.stringify({ name: 'x'.repeat(1024 * 1024) });
    const long = await api.ask('/account/keys', { method: 'POST', body });
    expectRefusal(long, 413, 'body_too_large');
  });

  test('gives 1,000 responses, successes and errors, that all conform to the document', async () => {
    const chance = new Seeded(20240515);
    const pick = <T>(from: readonly T[]): T => chance.pick(from);
    const tight = await api.service.key('tight');
    const symbols = ['XAU', 'xau', 'XAU,WTIOIL-FUT', 'XAU,WTIOIL-FUT', 'GOLD', 'NOPE', '', 'XAU,XAU,XAU'];
    const days = ['2024-05-14', '2024-05-14', '2024-05-13', '2024-05-11', '2020-04-20', '2023-02-29', ''];
    const valueFor = (name: keyof typeof PARAMETERS): string => {
      const { schema, example }: Parameter = PARAMETERS[name];
      if (name === 'symbols') return pick(symbols);
      if (schema.enum) return pick(schema.enum as readonly string[]);
      return schema.format === 'date' || example === undefined ? pick(days) : example;
    };
    const chanceOf = ({ required, schema }: Parameter) =>
      required ? 0.95 : schema.format === 'date' ? 0.4 : 0.1;
    const seen = new Map<string, number>();
    const check = (method: string, path: string, reply: Reply) => {
      const type = reply.headers.get('content-type');
      if (type?.startsWith('application/json')) {
        const schema = described.answer(method, path, reply.status);
        schema.parse(JSON.parse(reply.text), { error: () => reply.text });
      }
      expectDescribedHeaders(method, path, reply);
      const name = `${path} ${reply.status}`;
      seen.set(name, (seen.get(name) ?? 0) + 1);
    };
    const rates = OPERATIONS.filter(({ tag, path }) => tag !== 'Operator' && path !== '/rates/stream');
    const reads = rates.filter(({ method }) => method === 'GET');
    for (let i = 0; i < 1_000; i++) {
      const { path, method, parameters = [] } = pick(reads);
      const query = parameters
        .filter((name) => PARAMETERS[name].in === 'query')
        .filter((name) => chance.next() < chanceOf(PARAMETERS[name]))
        .map((name) => `${PARAMETERS[name].name}=${encodeURIComponent(valueFor(name))}`);
      const key = pick([api.key, api.key, api.key, api.key, api.key, tight, 'wrong', '']);
      check(method, path, await api.ask(`${path}?${query.join('&')}`, { key }));
    }
    for (const { path, parameters = [] } of reads) {
      if (!parameters.includes('visit')) expect([...seen.keys()], path).toContain(`${path} 200`);
    }
    expect([...seen.values()].reduce((sum, count) => sum + count)).toBe(1_000);
  });

  test('gives documented responses to a key that is sent twice, to a dry run of free quotes, and to a change with a parameter without effect', async () => {
    const check = (method: string, path: string, reply: Reply, status: number) => {
      expect([path, reply.status]).toEqual([path, status]);
      described.answer(method, path, status).parse(reply.body);
      expectDescribedHeaders(method, path, reply);
    };
    for (const { path, method, tag } of OPERATIONS) {
      if (tag !== 'Rates' && tag !== 'Account') continue;
      const twice = `${path.replace('{id}', 'x')}?apiKey=${api.key}&apiKey=other`;
      check(method, path, await api.ask(twice, { key: '', method }), 400);
    }
    const visit = (await api.ask('/market')).headers.get('openpit-visit');
    check('GET', '/market/quotes', await api.ask(`/market/quotes?visit=${visit}&dryRun=true`), 200);
    const made = await api.ask('/account/keys?page=2', { method: 'POST', body: '{}' });
    check('POST', '/account/keys', made, 200);
    const path = `/account/keys/${(made.body.key as Json).id}`;
    const changed = await api.ask(`${path}?page=2`, { method: 'PATCH', body: '{"name":"shop"}' });
    check('PATCH', '/account/keys/{id}', changed, 200);
    check('DELETE', '/account/keys/{id}', await api.ask(`${path}?page=2`, { method: 'DELETE' }), 200);
  });

  test('gives management responses that conform to the document', async () => {
    const bearer = OPERATOR_HEADERS;
    const send = async (method: string, path: string, operation: string, body?: unknown, headers = {}) => {
      const reply = await api.ask(path, {
        method,
        headers,
        ...(Object.keys(headers).length > 0 && { key: '' }),
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      described.answer(method, operation, reply.status).parse(reply.body);
      expectDescribedHeaders(method, operation, reply);
      return reply.body as { key: { id: string }; account: { id: string } };
    };
    const { key } = await send('POST', '/account/keys', '/account/keys', {});
    await send('POST', '/account/keys', '/account/keys', { wrong: 1 });
    await send('POST', `/account/keys/${key.id}/rotate`, '/account/keys/{id}/rotate', { overlapSeconds: 5 });
    await send('DELETE', `/account/keys/${key.id}`, '/account/keys/{id}');
    await send('DELETE', '/account/keys/none', '/account/keys/{id}');
    const made = await send('POST', '/admin/accounts', '/admin/accounts', { name: 'A', plan: 'pro' }, bearer);
    const path = `/admin/accounts/${made.account.id}`;
    await send('GET', '/admin/accounts', '/admin/accounts', undefined, bearer);
    await send('GET', path, '/admin/accounts/{id}', undefined, bearer);
    await send('PATCH', path, '/admin/accounts/{id}', { status: 'suspended' }, bearer);
    await send('POST', `${path}/keys`, '/admin/accounts/{id}/keys', {}, bearer);
    await send('POST', `/admin/keys/${made.key.id}/rotate`, '/admin/keys/{id}/rotate', {}, bearer);
    await send('DELETE', `/admin/keys/${made.key.id}`, '/admin/keys/{id}', undefined, bearer);
    await send('PUT', '/admin/plans/new', '/admin/plans/{id}', { quota: 1 }, bearer);
    await send('GET', '/admin/plans', '/admin/plans', undefined, bearer);
    await send('DELETE', '/admin/plans/new', '/admin/plans/{id}', undefined, bearer);
    await send('DELETE', '/admin/plans/new', '/admin/plans/{id}', undefined, bearer);
    await send('GET', '/admin/replicas', '/admin/replicas', undefined, bearer);
    await send('PATCH', '/admin/feeds/fred', '/admin/feeds/{id}', { enabled: true }, bearer);
    await send('PATCH', '/admin/feeds/none', '/admin/feeds/{id}', { enabled: true }, bearer);
    await send('GET', '/admin/feeds', '/admin/feeds', undefined, bearer);
    const far = { source: 'own', ticks: [{ symbol: 'XAU', price: 235_000, at: NOON }] };
    await send('POST', '/admin/ticks', '/admin/ticks', far, bearer);
    await send('GET', '/admin/quarantine', '/admin/quarantine', undefined, bearer);
    api.service.clock.time += 5_000;
    await api.service.core.follow();
    expect(await send('GET', '/feeds', '/feeds')).toMatchObject({ feeds: [{ key: 'fred' }] });
    await send('GET', '/admin/replicas', '/admin/replicas', undefined, { authorization: 'Bearer wrong' });
  });
});
