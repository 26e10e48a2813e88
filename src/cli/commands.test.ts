import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { loadCommands } from './commands.ts';

test('every command is loaded by its first word', async () => {
  const all = await loadCommands();
  expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
  for (const { name } of all) {
    const [firstWord = ''] = name.split(' ');
    const group = await loadCommands(firstWord);
    expect(group.map((command) => command.name)).toContain(name);
    expect(group.every((command) => command.name.split(' ')[0] === firstWord)).toBe(true);
  }
});

test('a command loads neither the other commands nor the service', () => {
  const program = `
    const { runCli } = await import(${JSON.stringify(join(import.meta.dir, 'cli.ts'))});
    await runCli(['plan', 'list', '--help']);
    console.log(Object.keys(require.cache).filter((path) => path.includes('/src/')).join('\\n'));`;
  const { stdout } = Bun.spawnSync([process.execPath, '-e', program]);
  const loaded = stdout.toString();
  expect(loaded).toContain('/cli/commands/plan.ts');
  for (const other of ['/cli/serve/', '/cli/export/', '/service.ts', '/ledger/ledger.ts'])
    expect(loaded).not.toContain(other);
});
