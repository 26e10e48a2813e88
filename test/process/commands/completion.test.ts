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
