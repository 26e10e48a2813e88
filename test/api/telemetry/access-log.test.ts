import { expect, test } from 'bun:test';
import { existsSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AccessLog } from '../../../src/runtime/log/access-log.ts';
import { apiOn } from '../../support/api.ts';
import { newFolder, onEachEngine } from '../../support/ledger.ts';

const LATEST = '/rates/latest?symbols=XAU';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

onEachEngine('the access log', (engine) => {
  const path = join(newFolder(), 'access.log');
  const settings = { OPENPIT_ACCESS_LOG: path, OPENPIT_TRUSTED_PROXIES: '127.0.0.1' };
  const api = apiOn(engine, { settings, logLevel: 'warn' }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
  });
  const written = async () => {
    await api.service.core.accessLog!.flush();
    return readFileSync(path, 'utf8');
  };

  test('has a line of JSON for each request, cached or not, with its account and URL', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', traceparent: `00-${TRACE}-00f067aa0ba902b7-01` };
    const ids: (string | null)[] = [];
    for (let i = 0; i < 4; i++) ids.push((await api.ask(LATEST, { headers })).headers.get('x-request-id'));
    ids.push((await api.ask(LATEST, { headers, key: '' })).headers.get('x-request-id'));
    const lines = (await written())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const [account] = await api.service.ledger.accounts.list();
    expect(lines.map(({ requestId }) => requestId)).toEqual(ids);
    for (const line of lines) {
      expect(line).toMatchObject({
        time: new Date(api.service.clock.time).toISOString(),
        traceId: TRACE,
        method: 'GET',
        url: LATEST,
        endpoint: 'latest',
        address: '203.0.113.9',
      });
      expect(line.ms).toBeGreaterThan(0);
    }
    expect(lines.map(({ status, account: id }) => [status, id])).toEqual([
      ...Array.from({ length: 4 }, () => [200, account!.id]),
      [401, undefined],
    ]);
  });

  test('contains no key, wherever it was sent', async () => {
    for (let i = 0; i < 3; i++) {
      await api.ask(`${LATEST}&apiKey=${api.key}`, { key: '' });
      await api.ask(`/${api.key}?symbols=${api.key}`, { headers: { 'x-request-id': api.key } });
    }
    const text = await written();
    expect(text).toContain('apiKey=REDACTED');
    expect(text).not.toContain(api.key.slice(9));
  });

  test('can be rotated by renaming the file, and only its owner can read it', async () => {
    await api.ask(LATEST);
    await written();
    expect(statSync(path).mode & 0o777).toBe(0o600);
    renameSync(path, `${path}.1`);
    await api.ask('/usage');
    expect((await written()).trimEnd().split('\n')).toHaveLength(1);
  });
});

test('an access log that cannot be written warns once, counts dropped lines, and resumes when it can', async () => {
  const folder = newFolder();
  const path = join(folder, 'gone', 'access.log');
  const errors: unknown[] = [];
  const log = new AccessLog({ path, clock: { now: () => 0 }, onError: (error) => errors.push(error) });
  for (let i = 0; i < 3; i++) {
    log.write({ status: i });
    await log.flush();
  }
  expect([errors.length, log.dropped]).toEqual([1, 3]);
  await Bun.write(path, '');
  log.write({ status: 3 });
  await log.flush();
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ time: '1970-01-01T00:00:00.000Z', status: 3 });
  rmSync(folder, { recursive: true });
  expect(existsSync(path)).toBe(false);
});
