import { expect, test } from 'bun:test';
import { openpit } from '../../support/program.ts';

/** What bash offers for a command line whose last word is being typed. */
async function completed(...words: string[]): Promise<string[]> {
  const { stdout: script } = await openpit(['completion', 'bash'], {});
  const line = ['openpit', ...words].map((word) => `'${word}'`).join(' ');
  const run = `${script}\nCOMP_WORDS=(${line}); COMP_CWORD=${words.length}; _openpit; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, exitCode } = Bun.spawnSync(['bash', '-c', run]);
  expect(exitCode).toBe(0);
  return stdout.toString().trim().split('\n');
}

test('bash completes commands, their second words and their options', async () => {
  expect(await completed('lat')).toEqual(['latest']);
  expect(await completed('account', 'cr')).toEqual(['create']);
  expect(await completed('plan', 'set', '--quo')).toEqual(['--quota']);
  expect(await completed('latest', '--cur')).toEqual(['--currency']);
});

test('bash completes options after operands and after other options, and no second words', async () => {
  expect(await completed('account', 'set-plan', 'acme', '--pl')).toEqual(['--plan']);
  expect(await completed('latest', 'XAU', 'XAG', '--cur')).toEqual(['--currency']);
  expect(await completed('import', 'undo', '12', '--js')).toEqual(['--json']);
  expect(await completed('import', '')).toContain('undo');
  expect(await completed('import', 'prices.csv', 'un')).toEqual(['']); // so bash completes names of files
  const options = await completed('import', 'prices.csv', '--source', 'desk', '');
  expect(options).toContain('--symbol');
  expect(options.filter((word) => !word.startsWith('--'))).toEqual([]);
});

test('a line of the fish script has one pair of quotes within another', async () => {
  const { stdout } = await openpit(['completion', 'fish'], {});
  const lines = stdout.split('\n').filter((line) => line.startsWith('complete '));
  expect(lines.length).toBeGreaterThan(20);
  for (const line of lines)
    expect(line).toMatch(/^complete -c openpit( -f)? -n '__openpit_after "[a-z -]*"' -a '[^'"]+'$/);
  expect(stdout).toContain(`'__openpit_after "account set-plan"'`);
});

test.each(['zsh', 'fish'])('%s gets a script with every command', async (shell) => {
  const { stdout, exitCode } = await openpit(['completion', shell], {});
  expect(exitCode).toBe(0);
  for (const word of ['serve', 'latest', 'doctor', '--currency']) expect(stdout).toContain(word);
});

test('another shell is refused with those that are known', async () => {
  const { stderr, exitCode } = await openpit(['completion', 'tcsh'], {});
  expect(exitCode).toBe(2);
  expect(stderr).toContain('bash, zsh or fish (received tcsh)');
});
