import { expect, test } from 'bun:test';
import { RunRecord } from './run-record.ts';

test('the report of a run has no secrets and no control characters, and is of bounded length', () => {
  const lease = { feed: 'fred', number: 1 } as ConstructorParameters<typeof RunRecord>[0];
  const record = new RunRecord(lease, { OPENPIT_FRED_API_KEY: 'SECRET' });
  record.refuse([{ where: 'row\0 1', reason: 'the date is \x1b[2J"SECRET"\r\n' }]);
  const result = record.result('failed', `"a\0b" in the zip file is damaged ${'x'.repeat(1_000)}`);
  expect(result.reasons).toEqual([{ where: 'row  1', reason: 'the date is  [2J"***" ' }]);
  expect(result.message).toStartWith('"a b" in the zip file is damaged xx');
  expect(result.message).toHaveLength(500);
});
