import { expect, test } from 'bun:test';
import { table } from './command.ts';

test('columns are aligned, also where a character is as wide as two', () => {
  const rows = [
    ['name', 'plan'],
    ['黄金', 'basic'],
    ['Zu\u0308rich', 'pro'],
  ];
  expect(table(rows)).toBe('  name    plan\n  黄金    basic\n  Zu\u0308rich  pro');
});
