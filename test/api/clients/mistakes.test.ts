import { describe, expect, test } from 'bun:test';
import { createKey, secureRandom } from '../../../src/gate/key.ts';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { sendRaw } from '../../support/http/raw.ts';
import { onEachEngine } from '../../support/ledger.ts';

onEachEngine('common mistakes', (engine) => {
  const api = apiOn(engine, { settings: { OPENPIT_FAILED_KEYS_PER_MINUTE: '1000' } }, async ({ service }) => {
    await service.publish('XAU', { '2024-05-14': 2358.2 });
    await service.publish('XAG', { '2024-05-14': 28.5 });
  });
  const LATEST = '/rates/latest?symbols=XAU';

  describe('lists with another separator', () => {
    test.each([
      ['XAU;XAG', 'XAU;XAG'],
      ['XAU|XAG', 'XAU|XAG'],
      ['XAU%252CXAG', 'XAU%2CXAG'],
      ['XAU%20XAG', 'XAU XAG'],
      ['XAU/XAG', 'XAU/XAG'],
    ])('symbols=%s is answered with the list as it should be', async (sent, received) => {
      const message = expectRefusal(await api.ask(`/rates/latest?symbols=${sent}`), 404, 'unknown_symbol');
      expect(message).toContain(`${received} (separate codes with commas: symbols=XAU,XAG)`);
    });

    test('a list of codes that are not all known is no such list', async () => {
      const message = expectRefusal(await api.ask('/rates/latest?symbols=XAU/USD'), 404, 'unknown_symbol');
      expect(message).toContain('XAU/USD (did you mean XAU');
    });
  });

  describe('a formula without its braces, which curl removes unless it is called with -g', () => {
    const HINT = 'A formula has each code in braces, for example {XAU}/{XAG}; curl sends them only with -g.';
    test.each(['XAU*2-XAG', '(XAU-XAG)', 'XAU/XAG', 'XAG,XAU*31.1'])(
      'symbols=%s is told so',
      async (sent) => {
        const message = expectRefusal(await api.ask(`/rates/latest?symbols=${sent}`), 404, 'unknown_symbol');
        expect(message).toEndWith(HINT);
      },
    );

    test.each([
      ['a pair of currencies', '/rates/latest?symbols=XAU/USD'],
      ['a typo', '/rates/latest?symbols=XAUU'],
      ['an endpoint that takes no formulas', '/rates/revisions?symbols=XAU*2&date=2024-05-14'],
    ])('%s is not taken for one', async (_, path) => {
      expect(expectRefusal(await api.ask(path), 404, 'unknown_symbol')).not.toContain('brace');
    });
  });

  test.each(['//rates/latest', '/v1//rates/latest', '/rates//latest', '///rates/latest//'])(
    'a doubled slash in %s counts as one',
    async (path) => {
      expect((await api.ask(`${path}?symbols=XAU`)).body.rates).toEqual({ XAU: 2358.2 });
    },
  );

  test('a 404 lists all paths, under the mount that was used', async () => {
    for (const path of ['/nowhere', '/latest']) {
      const message = expectRefusal(await api.ask(`/v1${path}`), 404, 'not_found');
      for (const one of [
        '/symbols',
        '/rates/history',
        '/rates/stream',
        '/usage',
        '/account/keys/{id}',
        '/units',
      ]) {
        expect(message).toContain(`/v1${one}`);
      }
    }
  });

  describe('a key in the place where another service expects it', () => {
    const headers: Record<string, (key: string) => string> = {
      Authorization: (key) => `Bearer ${key}`,
      authorization: (key) => `bearer  ${key}`,
      'X-apiKey': (key) => key,
      apikey: (key) => key,
      'x-access-token': (key) => key,
    };
    for (const [name, written] of Object.entries(headers)) {
      test(`is accepted in the header ${name}, and something else there is named`, async () => {
        const ask = (key: string) => api.ask(LATEST, { key: '', headers: { [name]: written(key) } });
        expect((await ask(api.key)).status).toBe(200);
        expectRefusal(await ask(createKey(secureRandom)), 401, 'invalid_key');
        const message = expectRefusal(await ask('secret-of-another-service'), 401, 'missing_key');
        expect(message).toContain(
          `what is in the header "${name.toLowerCase()}" is not a key of this service`,
        );
        expect(message).not.toContain('secret-of-another-service');
      });
    }

    test.each(['apikey', 'access_key', 'api_key', 'APIKEY', 'token', 'amp;apiKey'])(
      'is accepted in the parameter %s, and something else there is named',
      async (name) => {
        const ask = (key: string) => api.ask(`${LATEST}&${name}=${key}`, { key: '' });
        expect((await ask(api.key)).status).toBe(200);
        expect((await ask(api.key)).status).toBe(200); // from the cache
        expectRefusal(await ask(createKey(secureRandom)), 401, 'invalid_key');
        const message = expectRefusal(await ask('secret'), 401, 'missing_key');
        expect(message).toContain(`what is in the parameter "${name}" is not a key of this service`);
        expect(message).not.toContain('"secret"');
      },
    );

    test('is outranked by the header x-api-key and the parameter apiKey', async () => {
      const other = { Authorization: `Bearer ${createKey(secureRandom)}` };
      expect((await api.ask(LATEST, { headers: other })).status).toBe(200);
      expect((await api.ask(`${LATEST}&apiKey=${api.key}`, { key: '', headers: other })).status).toBe(200);
    });

    test('counts as sent in a header where the key must not be in the URL', async () => {
      const headers = { Authorization: `Bearer ${api.key}` };
      expect((await api.ask('/account/keys', { key: '', headers, method: 'POST', body: '{}' })).status).toBe(
        200,
      );
      const inUrl = await api.ask(`/account/keys?access_key=${api.key}`, {
        key: '',
        method: 'POST',
        body: '{}',
      });
      expectRefusal(inUrl, 403, 'key_not_allowed');
    });

    test('is never logged, nor is the key of another service', async () => {
      const { service } = api;
      const from = service.logLines.length;
      await api.ask(`${LATEST}&access_key=${api.key}`, { key: '' });
      await api.ask(`${LATEST}&access_key=secret-of-another-service`, { key: '' });
      const lines = service.logLines.slice(from).join('\n');
      expect(lines).not.toContain(api.key);
      expect(lines).not.toContain('secret-of-another-service');
    });
  });

  test('the key header sent twice is accepted with one value, and refused with two', async () => {
    const send = (...keys: string[]) => {
      const lines = keys.map((key) => `x-api-key: ${key}\r\n`).join('');
      return sendRaw(
        api.service.url,
        `GET ${LATEST} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines}\r\n`,
      );
    };
    expect(await send(api.key, api.key)).toStartWith('HTTP/1.1 200 ');
    const refused = await send(api.key, createKey(secureRandom));
    expect(refused).toStartWith('HTTP/1.1 400 ');
    expect(refused).toContain('The header \\"x-api-key\\" was sent more than once, with different values.');
  });

  describe('parameters under other names', () => {
    test.each([
      ['time-series', 'symbols=XAU&start_date=2024-05-13&endDate=2024-05-14', 'startDate', 'start_date'],
      ['time-series', 'symbols=XAU&from=2024-05-13&to=2024-05-14', 'startDate', 'from'],
      ['fluctuation', 'symbols=XAU&startdate=2024-05-13&enddate=2024-05-14', 'startDate', 'startdate'],
      ['time-series', 'symbols=XAU&startDate=2024-05-13&end_date=2024-05-14', 'endDate', 'end_date'],
      ['latest', 'symbol=XAU', 'symbols', 'symbol'],
      ['latest', 'symbols[]=XAU', 'symbols', 'symbols[]'],
      ['historical', 'symbols=XAU&Date=2024-05-14', 'date', 'Date'],
      ['historical', 'symbols=XAU&amp;date=2024-05-14', 'date', 'amp;date'],
    ])('%s?%s says that %s is missing and %s was received', async (path, query, name, sent) => {
      const message = expectRefusal(await api.ask(`/rates/${path}?${query}`), 400, 'missing_parameter');
      expect(message).toContain(`The parameter "${name}" is missing (received "${sent}"). Rename it`);
    });
  });

  test('blanks around a date are ignored', async () => {
    const { body } = await api.ask('/rates/historical?symbols=XAU&date=%202024-05-14%20');
    expect(body).toMatchObject({ success: true, date: '2024-05-14' });
    const range = '/rates/time-series?symbols=XAU&startDate=+2024-05-13&endDate=2024-05-14%09';
    expect((await api.ask(range)).status).toBe(200);
  });

  test.each(['quote', 'unit', 'metadata'])('an empty %s counts as missing', async (name) => {
    const path = `/rates/historical?symbols=XAU&date=2024-05-14`;
    const { status, body } = await api.ask(`${path}&${name}=`);
    expect(status).toBe(200);
    expect(body.rates).toEqual((await api.ask(path)).body.rates);
  });

  test('a conversion without exchange rates says that their feed is off, and how to enable it', async () => {
    const message = expectRefusal(await api.ask(`${LATEST}&quote=EUR`), 404, 'unknown_currency');
    expect(message).toContain('the exchange rate feed is off or has not run yet');
    expect(message).toContain('openpit feed enable ecb');
  });

  test('a range that is too long names /rates/history and the setting of the operator', async () => {
    const path = '/rates/time-series?symbols=XAU&startDate=2024-01-01&endDate=2024-05-14';
    const message = expectRefusal(await api.ask(path), 400, 'range_too_long');
    expect(message).toContain('/rates/history');
    expect(message).toContain('openpit plan set NAME --max-span-days');
  });

  test('a day before the history begins says when it begins', async () => {
    for (const path of [
      'historical?date=2020-01-02',
      'fluctuation?startDate=2020-01-02&endDate=2024-05-14',
    ]) {
      const message = expectRefusal(await api.ask(`/rates/${path}&symbols=XAU`), 404, 'no_data');
      expect(message).toContain('XAU (its data starts on 2024-05-14)');
    }
  });
});
