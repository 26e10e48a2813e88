import { expect, test } from 'bun:test';
import { loadCommands } from '../commands.ts';
import type { Command } from '../framework/command.ts';
import { helpOf, overview } from './help.ts';

test('options that a command requires are in its usage', () => {
  const command: Command = {
    name: 'account create',
    summary: 'Create an account',
    flags: {
      name: { value: 'NAME', required: true, help: 'Name of the customer' },
      plan: { value: 'PLAN', required: true, help: 'Plan of the account' },
      note: { value: 'TEXT', help: 'A note' },
    },
    run: async () => {},
  };
  const usage = 'Usage: openpit account create --name NAME --plan PLAN [options]';
  expect(helpOf(command, Number.POSITIVE_INFINITY).split('\n')[2]).toBe(usage);
});

test.each([40, 60, 80, 100])(
  'on a terminal of %d columns, the help of every command fits, but for examples and long words',
  async (width) => {
    const commands = await loadCommands();
    for (const text of [overview(commands, width), ...commands.map((command) => helpOf(command, width))]) {
      const [explained = ''] = text.split('\n\nExamples:\n');
      const tooLong = explained.split('\n').filter((line) => Bun.stringWidth(line) > width);
      expect(tooLong.filter((line) => line.trim().includes(' ') && !line.startsWith('  -'))).toEqual([]);
    }
  },
);
