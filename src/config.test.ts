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

test('what is kept for how long is the same whether the service or a test asks for the defaults', () => {
  expect(readConfig({}, {}).retention).toEqual(DEFAULT_RETENTION);
});
