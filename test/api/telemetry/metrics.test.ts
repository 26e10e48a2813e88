import { expect, test } from 'bun:test';
import packageJson from '../../../package.json';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { hasPromtool, promtool } from '../../support/monitoring/metrics.ts';
import { OPERATOR_HEADERS, OPERATOR_SETTINGS, OPERATOR_TOKEN } from '../../support/operator.ts';
import { NOON } from '../../support/service.ts';

onEachEngine('GET /metrics', (engine) => {
  const api = apiOn(engine, { settings: OPERATOR_SETTINGS });
  const metrics = async () => (await api.ask('/metrics', { key: '', headers: OPERATOR_HEADERS })).text;
  const countOf = (text: string, endpoint: string, status: number) =>
    Number(
      new RegExp(`openpit_request_seconds_count{endpoint="${endpoint}",status="${status}"} (\\d+)`).exec(
        text,
      )?.[1] ?? 0,
    );

  test('requests are counted by endpoint and status', async () => {
    const before = await metrics();
    await api.ask('/symbols');
    await api.ask('/v2/symbols/');
    await api.ask('/symbols', { key: '' });
    await api.ask('/nowhere');
    const after = await metrics();
    const grown = (endpoint: string, status: number) =>
      countOf(after, endpoint, status) - countOf(before, endpoint, status);
    expect([grown('symbols', 200), grown('symbols', 401), grown('other', 404)]).toEqual([2, 1, 1]);
  });

  test('the format is that of Prometheus: every line is a comment or a sample', async () => {
    const lines = (await metrics()).trimEnd().split('\n');
    const sample = /^[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[0-9.e+-]+$/;
    for (const line of lines)
      expect(line).toMatch(line.startsWith('#') ? /^# (HELP|TYPE) [a-z_]+ ./ : sample);
    expect(lines).toContain('openpit_ready 1');
  });

  test.skipIf(!hasPromtool)('promtool finds nothing wrong with them', async () => {
    await api.ask('/symbols');
    expect(await promtool(['check', 'metrics'], await metrics())).toEqual([0, '']);
  });

  test('they include versions, start time, CPU, memory and open files', async () => {
    const text = await metrics();
    const sample = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]);
    expect(text).toContain(
      `openpit_build_info{version="${packageJson.version}",bun="${Bun.version}",engine="${engine}"} 1`,
    );
    expect(sample('process_start_time_seconds')).toBe(NOON / 1000);
    expect(sample('process_cpu_seconds_total')).toBeGreaterThan(0);
    expect(sample('process_resident_memory_bytes')).toBeGreaterThan(10_000_000);
    expect(sample('process_open_fds')).toBeGreaterThan(2);
    expect(text).toContain('# TYPE process_cpu_seconds_total counter');
  });

  test('the buckets of a histogram are cumulative and end at its count', async () => {
    await api.ask('/symbols');
    const text = await metrics();
    const buckets = [...text.matchAll(/bucket\{endpoint="symbols",status="200",le="[^"]+"\} (\d+)/g)];
    const counts = buckets.map((match) => Number(match[1]));
    expect(counts).toEqual(counts.toSorted((a, b) => a - b));
    expect(counts.at(-1)).toBe(countOf(text, 'symbols', 200));
  });

  test('the admin token is required even from this machine, because a proxy may hide itself', async () => {
    expectRefusal(await api.ask('/metrics', { key: '' }), 401, 'invalid_admin_token');
    expect((await api.ask('/metrics', { key: '', headers: OPERATOR_HEADERS })).status).toBe(200);
  });

  test('a proxied request needs the admin token', async () => {
    const through = (headers: Record<string, string>) =>
      api.ask('/metrics', { key: '', headers: { 'x-forwarded-for': '203.0.113.9', ...headers } });
    const refused = await through({});
    expectRefusal(refused, 401, 'invalid_admin_token');
    expect(refused.headers.get('www-authenticate')).toBe('Bearer realm="openpit"');
    expectRefusal(await through({ authorization: `Bearer ${OPERATOR_TOKEN}x` }), 401, 'invalid_admin_token');
    expect((await through(OPERATOR_HEADERS)).status).toBe(200);
  });

  test('it is served only at the root', async () => {
    expect((await api.ask('/v1/metrics')).status).toBe(404);
  });
});

onEachEngine('GET /metrics without an admin token', (engine) => {
  const api = apiOn(engine);

  test('it is open on this machine, but not through a proxy or under another host name', async () => {
    expect((await api.ask('/metrics', { key: '' })).status).toBe(200);
    for (const headers of [
      { forwarded: 'for=203.0.113.4' },
      { via: '1.1 proxy' },
      { 'x-real-ip': '203.0.113.4' },
      { 'x-forwarded-proto': 'https' },
      { host: 'evil.example' },
    ] as Record<string, string>[]) {
      const reply = await api.ask('/metrics', { key: '', headers });
      expectRefusal(reply, 401, 'invalid_admin_token');
    }
  });

  test('no token opens it to a proxied client', async () => {
    const headers = { 'x-forwarded-for': '203.0.113.9', authorization: 'Bearer undefined' };
    expectRefusal(await api.ask('/metrics', { key: '', headers }), 401, 'invalid_admin_token');
  });
});
