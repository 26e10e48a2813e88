import { expect, test } from 'bun:test';
import { readConfig } from './config.ts';
import { DEFAULT_RETENTION } from './ledger/retention/rules.ts';

test('the keys of providers are kept by their names, and nothing else is among them', () => {
  const env = {
    OPENPIT_FRED_API_KEY: ' fred-key ',
    OPENPIT_EIA_API_KEY: '',
    OPENPIT_ADMIN_TOKEN: 'a-long-admin-token',
    PATH: '/bin',
  };
  const config = readConfig(env, {});
  expect(config.secrets).toEqual({ OPENPIT_FRED_API_KEY: 'fred-key' });
  expect(Object.isFrozen(config.secrets)).toBe(true);
  expect(config.warnings).toEqual([]);
});

test('a standby is for PostgreSQL only, and its URL is checked', () => {
  const [ledger, standby] = ['postgres://one/db', 'postgres://two/db'];
  const withUrls = (database: string, read: string) =>
    readConfig({ OPENPIT_DATABASE_URL: database, OPENPIT_READ_URL: read }, {});
  expect(withUrls(ledger, standby).readUrl).toBe(standby);
  expect(withUrls(ledger, '').readUrl).toBeUndefined();
  expect(() => withUrls(ledger, 'two')).toThrow('OPENPIT_READ_URL');
  const onSqlite = withUrls('', standby);
  expect([onSqlite.readUrl, onSqlite.warnings.length]).toEqual([undefined, 1]);
});

test('what is kept for how long is the same whether the service or a test asks for the defaults', () => {
  expect(readConfig({}, {}).retention).toEqual(DEFAULT_RETENTION);
});
