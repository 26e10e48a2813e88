import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { apiOn } from '../support/api.ts';
import { FaultyProxy } from '../support/http/faulty-proxy.ts';
import { publishLongSeries } from '../support/long-series.ts';
import { eventually } from '../support/program.ts';

const python = Bun.which('python3');
if (!python) console.warn('SKIPPED: the client in Python, because there is no python3');

/** The header of a gzip file, and a block of a type that does not exist. */
const GARBLED = new Uint8Array([...Bun.gzipSync('').subarray(0, 10), 0xff, 0xff]);

describe.skipIf(!python)('client/python/openpit.py', () => {
  const api = apiOn('sqlite', {}, async ({ service }) => {
    await service.publish('XAU', {
      '2024-05-10': 2350.10000000001,
      '2024-05-13': 2336.1,
      '2024-05-14': 2358.2,
    });
    await service.publish('PL', { '2024-05-14': 1000 });
    await service.publish('XAG', { '2024-05-10': 28.1, '2024-05-13': 28.3, '2024-05-14': 28.5 });
  });

  test('every call returns what the service answers, and errors have a class by their code', async () => {
    const script = join(import.meta.dir, 'python-calls.py');
    const child = Bun.spawn([python!, '-B', script, api.service.url, api.key], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [report, errors] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect(errors).toBe('');
    expect(await child.exited).toBe(0);
    if (report.startsWith('SKIPPED')) console.warn(report.trim());
  });

  test('what a gateway sends instead of an answer is reported as received', async () => {
    const html = { 'content-type': 'text/html; charset=utf-8' };
    const page = '<html>\n<head><title>Login</title></head>';
    const answers: Record<string, () => Response> = {
      '/page': () => new Response(page, { headers: html }),
      '/down': () => new Response(page, { status: 502, headers: html }),
      '/empty': () => new Response(null),
      '/null': () => Response.json(null),
      '/list': () => Response.json([1], { status: 500 }),
      '/fields': () => Response.json({ error: {}, message: {}, code: [] }, { status: 403 }),
      '/moved': () => Response.json({}, { status: 301, headers: { location: 'https://other.example/' } }),
      '/garbled': () => new Response(GARBLED, { headers: { 'content-encoding': 'gzip' } }),
      '/rates/stream': () => new Response(page, { headers: html }),
    };
    using gateway = Bun.serve({ port: 0, fetch: ({ url }) => answers[new URL(url).pathname]!() });
    const script = `
import sys
from openpit import Openpit, OpenpitError
client = Openpit(sys.argv[1], key="secret", retries=0)
for path in sys.argv[2:]:
    try:
        next(client.stream(["XAU"])) if path == "/rates/stream" else client.get(path)
    except OpenpitError as error:
        print(error.code, error)
`;
    const child = Bun.spawn([python!, '-B', '-c', script, gateway.url.origin, ...Object.keys(answers)], {
      env: { ...process.env, PYTHONPATH: join(import.meta.dir, '../../client/python') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const shown = '("<html> <head><title>Login</title></head>")';
    const advice = 'was expected. Check the argument "url", and proxies and gateways in between.';
    expect((await new Response(child.stdout).text()).trim().split('\n')).toEqual([
      `invalid_response Received text/html with the status 200 ${shown} where a JSON object ${advice}`,
      `invalid_response Received text/html with the status 502 ${shown} where a JSON object ${advice}`,
      `invalid_response Received an empty body with the status 200 where a JSON object ${advice}`,
      `invalid_response Received application/json with the status 200 ("null") where a JSON object ${advice}`,
      `invalid_response Received application/json with the status 500 ("[1]") where a JSON object ${advice}`,
      'http_403 The service answered with the status 403.',
      'redirected Received a redirect to https://other.example/, which must not get the key. Check the argument "url".',
      expect.stringMatching(/^connection_lost The connection was lost: error\('Error -3 while decompressing/),
      `invalid_response Received text/html with the status 200 ${shown} where a stream of events ${advice}`,
    ]);
  });

  test('an address without http:// or https:// is refused before anything is sent', async () => {
    const addresses = ['rates.example.org', '127.0.0.1:8080', 'ftp://rates.example.org', 'https:///v2'];
    const script = `
import sys
from openpit import Openpit
Openpit("HTTPS://rates.example.org", version="v2")
for url in sys.argv[1:]:
    try:
        Openpit(url)
    except ValueError as error:
        print(error)
`;
    const child = Bun.spawn([python!, '-B', '-c', script, ...addresses], {
      env: { ...process.env, PYTHONPATH: join(import.meta.dir, '../../client/python') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect((await new Response(child.stdout).text()).split('\n')).toEqual([
      ...addresses.map((url) => `url must be an address with http:// or https:// (received '${url}')`),
      '',
    ]);
  });

  test('an address with parts that would not be sent is refused, without repeating them, because they may be secret', async () => {
    const script = `
import sys
from openpit import Openpit
Openpit("https://rates.example.org/@team/prices")
for url in sys.argv[1:]:
    try:
        print(Openpit(url))
    except ValueError as error:
        print(error)
`;
    const addresses = ['?token=secret', '#key=secret', '?'].map((end) => `https://rates.example.org/${end}`);
    const child = Bun.spawn([python!, '-B', '-c', script, ...addresses, 'https://user:secret@example.org'], {
      env: { ...process.env, PYTHONPATH: join(import.meta.dir, '../../client/python') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await new Response(child.stdout).text()).toBe(
      'url must end with its path: a user, a query or a fragment would not be sent\n'.repeat(4),
    );
  });

  test('a call that reads the ledger is not repeated when its answer is lost, because it costs a unit each time', async () => {
    const key = await api.service.key('unlimited');
    const proxy = await FaultyProxy.open(api.service.url);
    proxy.fateOf = (target) => (/asOf|interval/.test(target) ? 'lose' : 'pass');
    const script = `
import sys
from openpit import ConnectionLost, Openpit
client = Openpit(sys.argv[1], key=sys.argv[2])
for call in (
    lambda: list(client.history(["XAU"], "2024-05-14", "2024-05-14", interval="hour")),
    lambda: client.historical(["XAU"], "2024-05-14", asOf="2024-05-15"),
):
    try:
        call()
    except ConnectionLost as error:
        print(error.may_be_counted)
`;
    const child = Bun.spawn([python!, '-B', '-c', script, proxy.url, key], {
      env: { ...process.env, PYTHONPATH: join(import.meta.dir, '../../client/python') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await new Response(child.stdout).text()).toBe('True\nTrue\n');
    await proxy.close();
    expect((await api.ask('/usage', { key })).body.used).toBe(2);
  });

  test('a call for a table of CSV or NDJSON is not repeated when its answer is lost, because the service does not keep long ones', async () => {
    const key = await api.service.key('unlimited');
    const proxy = await FaultyProxy.open(api.service.url);
    proxy.fateOf = (target) => (/history/.test(target) ? 'lose' : 'pass');
    const script = `
import sys
from openpit import ConnectionLost, Openpit
client = Openpit(sys.argv[1], key=sys.argv[2])
query = {"symbols": ["XAU"], "startDate": "2024-05-14", "endDate": "2024-05-14"}
for path, more in (("/rates/history.csv", {}), ("/rates/history", {"format": "NDJSON"})):
    try:
        client.get(path, **query, **more)
    except ConnectionLost as error:
        print(error.may_be_counted)
`;
    const child = Bun.spawn([python!, '-B', '-c', script, proxy.url, key], {
      env: { ...process.env, PYTHONPATH: join(import.meta.dir, '../../client/python') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    expect(await new Response(child.stdout).text()).toBe('True\nTrue\n');
    expect(proxy.requests.map(({ target }) => target.split('?')[0])).toEqual([
      '/rates/history.csv',
      '/rates/history',
    ]);
    await proxy.close();
    expect((await api.ask('/usage', { key })).body.used).toBe(2);
  });

  test('a lost answer above 1 MB is repeated and counted once, and reported as lost if its prices have changed meanwhile', async () => {
    const { plan, symbols, startDate, endDate } = await publishLongSeries(api.service);
    const key = await api.service.key(plan);
    const used = async () => (await api.ask('/usage', { key })).body.used;
    const proxy = await FaultyProxy.open(api.service.url);
    proxy.alterHead = (head) => head.replace(/^accept-encoding: .*$/im, 'Accept-Encoding: identity');
    let requests = 0;
    proxy.fateOf = (target) => (/time-series/.test(target) && ++requests % 2 === 1 ? 'lose' : 'pass');
    const script = `
import sys
from openpit import ConnectionLost, Openpit
url, key, symbols, start, end = sys.argv[1:]
client = Openpit(url, key=key)
print(len(client.time_series(symbols, start, end)["rates"]), flush=True)
try:
    client.time_series(symbols, start, end, metadata=False)
except ConnectionLost as error:
    print(error.code, error.may_be_counted)
`;
    api.service.clock.time += 60_000;
    const args = [proxy.url, key, symbols.join(), startDate, endDate];
    const child = Bun.spawn([python!, '-B', '-c', script, ...args], {
      env: { ...process.env, PYTHONPATH: join(import.meta.dir, '../../client/python') },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await eventually(async () => (await used()) === 2);
    await api.service.publish(symbols[3]!, { '2022-02-02': 4242.5 });
    expect(await new Response(child.stdout).text()).toBe('1000\nalready_charged True\n');
    await proxy.close();
    expect(await used()).toBe(2);
  });
});
