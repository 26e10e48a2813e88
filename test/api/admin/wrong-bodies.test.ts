import { describe, expect, test } from 'bun:test';
import { apiOn, expectRefusal } from '../../support/api.ts';
import { OPERATOR_SETTINGS, operatorOf } from '../../support/operator.ts';

const SYMBOL = {
  name: 'Test',
  category: 'Metals',
  currency: { code: 'USD', name: 'US dollar', symbol: '$' },
  unit: { symbol: 'kg', name: 'kilogram' },
  market: 'LME',
  decimals: 2,
  updateInterval: 'day',
};
const REASON = { symbol: 'XAU', startDate: '2024-05-13', reason: 'wrong' };
const CORRECTION = { symbol: 'XAU', date: '2024-05-13', open: 1, high: 1, low: 1, close: 1, reason: 'wrong' };

const WRONG: [method: string, path: string, body: unknown, message: string][] = [
  ['POST', 'accounts', {}, 'name is missing: it must be a text; plan is missing: it must be a text'],
  ['POST', 'accounts', { name: ' ', plan: 'pro' }, 'name must not be empty (received " ")'],
  ['POST', 'accounts', [], 'it must be an object'],
  ['POST', 'accounts', { name: 'a\u0007', plan: 'pro' }, 'name must be whole Unicode without control'],
  ['PATCH', 'accounts/x', { status: 'off' }, 'status must be one of active, suspended (received "off")'],
  ['PATCH', 'accounts/x', { name: 'new' }, 'there is no field name'],
  ['POST', 'accounts/x/keys', { expiresAt: 1.5 }, 'expiresAt must be a whole number (received 1.5)'],
  ['POST', 'accounts/x/keys', { allowedIps: ['x'] }, 'allowedIps.0 must be an address or a range such as'],
  ['PATCH', 'keys/x', { allowedIps: [] }, 'allowedIps must not be empty (received [])'],
  ['PATCH', 'keys/x', { headerOnly: 'yes' }, 'headerOnly must be true or false (received "yes")'],
  ['POST', 'keys/x/rotate', { overlapSeconds: -1 }, 'overlapSeconds must be at least 0 (received -1)'],
  ['PUT', 'plans/gold', { quota: '5' }, 'quota must be a number (received "5")'],
  ['PUT', 'plans/gold', { maxSymbols: 1e9 }, 'maxSymbols must be at most '],
  ['PATCH', 'feeds/ecb', {}, 'enabled is missing: it must be true or false'],
  ['PUT', 'feeds/ecb/addresses', {}, 'addresses is missing: it must be an object'],
  [
    'PUT',
    'feeds/ecb/addresses',
    { addresses: { recent: 5 } },
    'addresses.recent must be a text (received 5)',
  ],
  ['PUT', 'feeds/ecb/addresses', { addresses: { ['x'.repeat(40)]: 'y' } }, 'there are history, recent'],
  ['PUT', 'symbols/ABC', { ...SYMBOL, market: 'MOON' }, 'market must be one of NYMEX,'],
  ['PUT', 'symbols/ABC', { ...SYMBOL, unit: {} }, 'unit.symbol is missing: it must be a text'],
  ['POST', 'symbols', { symbols: [] }, 'symbols must not be empty (received [])'],
  ['POST', 'symbols', { symbols: [{ ...SYMBOL, code: 'a' }] }, 'symbols.0.code must be at most 32 capital'],
  ['PUT', 'formulas/ABC', { expression: 5, name: 'x' }, 'expression must be a text (received 5)'],
  [
    'POST',
    'bars/withdraw',
    { ...REASON, startDate: '2024-02-30' },
    'startDate must be a day that exists, as',
  ],
  ['POST', 'bars/revert', { ...REASON, recordedAt: 'now' }, 'recordedAt must be a time such as 2026-'],
  ['POST', 'bars/correct', { ...CORRECTION, open: undefined }, 'open is missing: it must be a number'],
  ['POST', 'bars/correct', { ...CORRECTION, low: 'x' }, 'low must be a number (received "x")'],
];

describe('a wrong body for the operator', () => {
  const api = apiOn('sqlite', { settings: OPERATOR_SETTINGS });
  const send = operatorOf(api);

  test.each(WRONG)('%s /admin/%s %j is explained', async (method, path, body, message) => {
    const refusal = expectRefusal(await send(method, `/admin/${path}`, body), 400, 'invalid_body');
    expect(refusal).toContain(message);
  });

  test.each([
    ['ticks', {}, 'symbol is missing: it must be a text'],
    ['ticks', 5, 'it must be an object'],
    ['ticks', { symbol: 'XAU', price: 1 }, 'at is missing: it must be a time such as'],
    ['ticks', { symbol: 'XAU', price: 1, at: 'noon' }, '1970 (received "noon")'],
    ['ticks', { symbol: 'XAU', price: 1, at: 1, id: true }, 'id must be a text or a whole number (received'],
    [
      'bars',
      { symbol: 'XAU', date: '2024-02-30', price: 1 },
      'date must be a day that exists, as YYYY-MM-DD',
    ],
    ['bars', { symbol: 'XAU', price: 1 }, 'date is missing: it must be a text'],
    ['bars', { symbol: 'XAU', date: '2024-05-13', price: 'x' }, 'price must be a number (received "x")'],
  ])('a wrong record of /admin/%s is explained: %j', async (path, record, reason) => {
    const { results } = (await send('POST', `/admin/${path}`, [record])).body;
    expect(results).toEqual([{ status: 'refused', reason: expect.stringContaining(reason) }]);
  });
});
