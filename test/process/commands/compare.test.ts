import { afterAll, beforeAll, expect, test } from 'bun:test';
import { openpit } from '../../support/program.ts';
import { openTestService, type TestService } from '../../support/service.ts';

/** Two services with the same prices, except where a test changes those of the second. */
let services: TestService[] = [];
let settings: Record<string, string> = {};

beforeAll(async () => {
  services = [await openTestService('sqlite'), await openTestService('sqlite')];
  for (const service of services) {
    await service.publish('XAU', { '2024-05-07': 2314.1, '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.publish('CORN', { '2024-05-07': 470, '2024-05-13': 472.5, '2024-05-14': 467.25 });
    await service.publish('XAG', { '2024-05-07': 27.3, '2024-05-14': 28.5 });
  }
  const [first, second] = services as [TestService, TestService];
  await second.publish('XAG', { '2024-05-10': 28.1, '2024-05-14': 28.6 });
  settings = { FIRST_KEY: await first.key(), SECOND_KEY: await second.key() };
});
afterAll(() => Promise.all(services.map((service) => service.close())));

const compare = (symbols: string, ...more: string[]) => {
  const [first, second] = services as [TestService, TestService];
  const of = ['--base', `${first.url}/v1/`, '--key-env', 'FIRST_KEY', '--with-key-env', 'SECOND_KEY'];
  const withUrl = more.includes('--with') ? [] : ['--with', `${second.url}/v1`];
  return openpit(
    ['compare', ...of, ...withUrl, '--symbols', symbols, '--date', '2024-05-14', ...more],
    settings,
  );
};

test('two services with the same prices are equal: exit code 0', async () => {
  const { exitCode, stdout, stderr } = await compare('XAU,CORN');
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(stdout.match(/: equal$/gm)).toHaveLength(7);
});

test('other values and other days are reported with both sides: exit code 1', async () => {
  const { exitCode, stdout, stderr } = await compare('XAU,XAG');
  expect(exitCode).toBe(1);
  expect(stderr).toContain('the services differ in');
  expect(stdout).toMatch(/value +rates\.XAG +28\.5 +28\.6/);
  expect(stdout).toMatch(/date +rates\.2024-05-10 +missing/);
  expect(stdout).toMatch(/value +rates\.XAG\.endRate +28\.5 +28\.6/);
});

test('a redirect is reported and not followed, so that no other address gets the key: exit code 1', async () => {
  const keys: (string | null)[] = [];
  using other = Bun.serve({
    port: 0,
    fetch({ headers }) {
      keys.push(headers.get('x-api-key'));
      return Response.json({});
    },
  });
  using moved = Bun.serve({ port: 0, fetch: () => Response.redirect(other.url.href) });
  const { exitCode, stderr } = await compare('XAU', '--with', moved.url.origin);
  expect(exitCode).toBe(1);
  expect(stderr).toContain(`redirects to ${other.url.href}, which must not get the key`);
  expect(keys).toEqual([]);
});

test('a tolerance accepts small differences of values, not of days', async () => {
  const { stdout } = await compare('XAG', '--tolerance', '1', '--json');
  const found = JSON.parse(stdout) as { request: string; differences: { kind: string }[] }[];
  const kinds = Object.fromEntries(
    found.map((one) => [one.request.split('?')[0], one.differences.map((d) => d.kind)]),
  );
  expect(kinds['/rates/historical']).toEqual([]);
  expect(kinds['/rates/time-series']).toEqual(['date']);
});

test('a later version has only additions, and an earlier one lacks members', async () => {
  const [, second] = services as [TestService, TestService];
  const forth = await compare('XAU', '--with', `${second.url}/v2`);
  expect([forth.exitCode, forth.stderr]).toEqual([0, '']);
  expect(forth.stdout).toMatch(
    /^\/rates\/latest\?symbols=XAU: compatible; only the second service has metaData$/m,
  );
  expect(forth.stdout).toContain(': compatible; only the second service has rates.XAU.date\n');
  expect(forth.stdout).toContain('/rates/latest: compatible; only the second service has error, path\n');
  expect(forth.stdout).toContain('/usage: equal\n');
  const back = await compare('XAU', '--with', `${second.url}/v1`, '--base', `${services[0]!.url}/v2`);
  expect(back.exitCode).toBe(1);
  expect(back.stdout).toMatch(/shape +metaData/);
  expect(back.stdout).toMatch(/shape +rates\.XAU\.date +2024-05-14 +missing/);
  expect(back.stdout).toMatch(/shape +error +VALIDATION_ERROR +missing/);
});

test('no key is printed, and what is missing is named', async () => {
  const { stdout, stderr } = await compare('XAU');
  for (const key of Object.values(settings)) expect(stdout + stderr).not.toContain(key);
  const without = await openpit(
    ['compare', '--base', 'http://x', '--key-env', 'NOT_SET', '--symbols', 'XAU'],
    {},
  );
  expect([without.exitCode, without.stderr]).toEqual([
    2,
    'openpit: the environment variable NOT_SET has no API key\n',
  ]);
});

test('services that refuse every request, as with wrong keys, are not enough for success', async () => {
  settings = { ...settings, WRONG_KEY: 'pit_live_wrong' };
  const { exitCode, stderr } = await compare('XAU', '--key-env', 'WRONG_KEY', '--with-key-env', 'WRONG_KEY');
  expect(stderr).toBe(
    'openpit: no prices were compared: both services refuse every request (status 401); check the keys\n',
  );
  expect(exitCode).toBe(1);
});

test('services that refuse every request for prices, as for an unknown symbol, are not enough for success', async () => {
  const { exitCode, stdout, stderr } = await compare('NOSUCH');
  expect(stdout).toContain('\n/rates/latest?symbols=NOSUCH: refused by both (404)\n');
  expect(stderr).toBe(
    'openpit: no prices were compared: both services refuse every request for them (status 404); check the symbols and the day\n',
  );
  expect(exitCode).toBe(1);
  const before = await compare('XAU', '--date', '1950-01-01');
  expect(before.stdout).toMatch(/\/rates\/historical\S+: refused by both \(404\)\n/);
});

test('a service that cannot be reached is named', async () => {
  const { exitCode, stderr } = await compare('XAU', '--with', 'http://127.0.0.1:1');
  expect(exitCode).toBe(1);
  expect(stderr).toMatch(
    /^openpit: http:\/\/127\.0\.0\.1:1\/symbols cannot be reached; .* Unable to connect\.\)\n$/,
  );
});

test('a service that has nothing at its address is named', async () => {
  const wrong = `${services[1]!.url}/v1/rates`;
  const { exitCode, stdout, stderr } = await compare('XAU', '--with', wrong);
  expect(exitCode).toBe(1);
  expect(stdout).toBe('');
  expect(stderr).toStartWith(`openpit: there is nothing at ${wrong}/symbols (status 404); check the address`);
});
