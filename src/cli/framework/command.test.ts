import { expect, test } from 'bun:test';
import { type Command, readCall, table } from './command.ts';

test('columns are aligned, also where a character is as wide as two', () => {
  const rows = [
    ['name', 'plan'],
    ['黄金', 'basic'],
    ['Zu\u0308rich', 'pro'],
  ];
  expect(table(rows)).toBe('  name    plan\n  黄金    basic\n  Zu\u0308rich  pro');
});

test.each([
  ['--qouta', 'there is no option --qouta; did you mean --quota? openpit plan set --help lists the options'],
  ['--xyz', 'there is no option --xyz; openpit plan set --help lists the options'],
  ['-q', 'there is no option -q; openpit plan set --help lists the options'],
])('an unknown option %s is named, with the one that was probably meant', (option, message) => {
  const flags = { quota: { value: 'N', help: 'Requests per month' } };
  const command: Command = {
    name: 'plan set',
    summary: '',
    flags,
    ledgerOptional: true,
    run: async () => {},
  };
  expect(() => readCall(command, [option, '5'])).toThrow(message);
});

test('all required options that are missing are named', () => {
  const flags = {
    name: { value: 'NAME', required: true, help: 'Name of the customer' },
    plan: { value: 'PLAN', required: true, help: 'Plan of the account' },
    note: { value: 'TEXT', help: 'A note' },
  } as const;
  const command: Command = {
    name: 'account create',
    summary: '',
    flags,
    ledgerOptional: true,
    run: async () => {},
  };
  expect(() => readCall(command, [])).toThrow('openpit account create requires --name, --plan');
  expect(() => readCall(command, ['--name', 'Acme', '--plan', ''])).toThrow('requires --plan');
});
