import { expect, test } from 'bun:test';
import { readConfig } from './config.ts';

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
