import { expect, test } from 'bun:test';
import { apiOn, type Json } from '../../support/api.ts';
import { getRaw, sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';
import { SUCCESS_SHAPES } from '../../support/responses/shapes.ts';

/** Requests as existing clients of this family of APIs send them. Only their base URL changes. */
onEachEngine('clients in the wild', (engine) => {
  const api = apiOn(engine, {}, async ({ service }) => {
    await service.publish('XAU', { '2024-05-13': 2336.1, '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-13': 28.2, '2024-05-14': 28.5 });
    await service.publish('WTIOIL-FUT', { '2024-05-13': 79.1, '2024-05-14': 78 });
  });
  const KEY = 'apiKey=KEY';
  const REQUESTS = [
    `/rates/latest?${KEY}&symbols=XAU,XAG`,
    `/v1/rates/latest?${KEY}&base=USD&symbols=XAU%2CXAG`,
    `/v2/rates/latest?symbols=xau,xag&${KEY}&_=1715788800123`,
    `/rates/latest/?${KEY}&symbols=XAU, XAG`.replace(' ', '%20'),
    `/rates/latest?${KEY}&symbols=XAU,+XAG&format=json&callback=cb`,
    `/rates/latest?symbols=XAU&symbols=XAG&${KEY}`,
  ];

  for (const path of REQUESTS) {
    test(`${path} gives both rates`, async () => {
      const { status, body } = await api.ask(path.replace('KEY', api.key), { key: '' });
      expect(status).toBe(200);
      expect(body.rates).toEqual({ XAU: 2358.2, XAG: 28.5 });
    });
  }

  test('a GET with Content-Type: application/json and Accept: */* receives JSON', async () => {
    for (const accept of ['application/json', '*/*', 'text/html', 'application/xml']) {
      const headers = { 'content-type': 'application/json', accept };
      const reply = await api.ask('/rates/latest?symbols=XAU', { headers });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('content-type')).toBe('application/json; charset=utf-8');
    }
  });

  test('unknown parameters are ignored on every endpoint, even if repeated', async () => {
    const junk = 'base=USD&base=EUR&_=1&amount=5&from=USD&x[]=1&x[]=2&=&constructor=1&%00=1';
    for (const path of [
      '/symbols?',
      '/usage?',
      '/rates/historical?symbols=XAU&date=2024-05-14&',
      '/rates/time-series?symbols=XAU&startDate=2024-05-13&endDate=2024-05-14&',
      '/rates/fluctuation?symbols=XAU&startDate=2024-05-13&endDate=2024-05-14&',
    ]) {
      expect((await api.ask(path + junk)).status, path).toBe(200);
    }
  });

  test('with metadata=false the fields are those specified, in order; any other value keeps the metadata', async () => {
    const range = 'startDate=2024-05-13&endDate=2024-05-14';
    const bodies: [path: string, members: string[]][] = [
      ['/rates/latest?symbols=XAU', ['success', 'timestamp', 'rates']],
      ['/rates/historical?symbols=XAU&date=2024-05-14', ['success', 'date', 'rates']],
      [`/rates/time-series?symbols=XAU&${range}`, ['success', 'startDate', 'endDate', 'rates']],
      [`/rates/fluctuation?symbols=XAU&${range}`, ['success', 'startDate', 'endDate', 'rates']],
    ];
    for (const [path, members] of bodies) {
      expect(Object.keys((await api.ask(`${path}&metadata=false`)).body)).toEqual(members);
      for (const value of ['', '&metadata=true', '&metadata=1']) {
        expect(Object.keys((await api.ask(path + value)).body)).toEqual([...members, 'metadata']);
      }
    }
  });

  test('every endpoint conforms to the specified shape', async () => {
    const query = '?symbols=XAU,WTI,XAG&date=2024-05-14&startDate=2024-05-13&endDate=2024-05-31&metadata=';
    for (const [name, shape] of Object.entries(SUCCESS_SHAPES)) {
      const path = name === 'symbols' || name === 'usage' ? `/${name}` : `/rates/${name}`;
      for (const metadata of ['true', 'false']) {
        const { body } = await api.ask(path + query + metadata);
        expect(shape.safeParse(body).error, path).toBeUndefined();
      }
    }
  });

  test('an HTTP/1.0 proxy is answered, with and without a Host', async () => {
    const target = `/rates/latest?symbols=XAU&metadata=false&apiKey=${api.key}`;
    for (const host of ['', 'Host: rates.example\r\n', 'Host: \r\n']) {
      expect(await sendRaw(api.service.url, `GET ${target} HTTP/1.0\r\n${host}\r\n`)).toContain(
        '"rates":{"XAU":2358.2}',
      );
    }
  });

  test('a request in absolute form, as for proxies, is answered', async () => {
    const target = `http://rates.example/rates/latest?symbols=XAU&apiKey=${api.key}`;
    expect(await getRaw(api.service.url, target)).toStartWith('HTTP/1.1 200 ');
  });

  test('every code in the symbol list can be requested', async () => {
    const list = (await api.ask('/symbols')).body.symbols as { symbol: string }[];
    const codes = list.map((one) => one.symbol);
    const path = `/rates/time-series?symbols=${codes.join(',')}&startDate=2024-05-14&endDate=2024-05-14`;
    const { status, body } = await api.ask(path);
    expect(status).toBe(200);
    expect(Object.keys(body.metadata as Json)).toEqual(codes);
  });
});
