import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SETTINGS } from '../../../src/config/settings.ts';
import { newFolder } from '../../support/ledger.ts';
import { newDatabase } from '../../support/postgres.ts';
import { openpit, PROGRAM_COMMAND } from '../../support/program.ts';
import { ADMIN_TOKEN, Replicas } from '../../support/replication/replicas.ts';

const ROOT = join(import.meta.dir, '..', '..', '..');
const GUIDE = await readFile(join(ROOT, 'docs', 'production.md'), 'utf8');

interface Block {
  /** `root`: on a Debian server. `build`: where the program is built. Empty: anywhere. */
  where: string;
  commands: string;
}

const blocks: Block[] = [...GUIDE.matchAll(/^```sh ?(\w*)\n(.*?)^```$/gms)].map(([, where, commands]) => ({
  where: where!,
  commands: commands!,
}));

const lacks = ['bash', 'curl', 'jq'].filter((tool) => Bun.which(tool) === null);
const title = `the commands of docs/production.md${lacks.length > 0 ? ` (skipped: this machine has no ${lacks.join(', ')})` : ''}`;

describe.skipIf(lacks.length > 0)(title, () => {
  let replicas: Replicas;
  beforeAll(async () => {
    replicas = new Replicas(await newDatabase(), 3);
    await replicas.start();
  }, 180_000);
  afterAll(() => replicas.end());

  test('that need only the program and curl succeed, one after the other, in one shell', async () => {
    const folder = newFolder();
    await installProgram(folder);
    const script = blocks.flatMap(({ where, commands }) => (where === '' ? commands : []));
    expect(script.length).toBeGreaterThan(2);
    const child = Bun.spawn(['bash', '-euo', 'pipefail', '-c', script.join('\n')], {
      cwd: folder,
      env: {
        ...process.env,
        ...replicas.settings,
        PATH: `${folder}:${process.env.PATH}`,
        BASE: replicas.urls[0]!,
        OPENPIT_ADMIN_TOKEN: ADMIN_TOKEN,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, exitCode] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    expect({ exitCode, output: exitCode === 0 ? '' : stdout + stderr }).toEqual({ exitCode: 0, output: '' });
  }, 180_000);
});

test('docs/production.md names only commands, settings and files that exist', async () => {
  const { stdout: help } = await openpit(['--help'], {});
  const text = blocks.map(({ commands }) => commands).join('\n');
  const commands = [...text.matchAll(/^(?:KEY=\$\(|\/\S+\/)?openpit ([a-z]+(?: [a-z-]+)?)/gm)].map(
    ([, name]) => name!,
  );
  expect(commands.length).toBeGreaterThan(5);
  for (const name of new Set(commands)) {
    const isKnown = [name, name.split(' ')[0]!].some((one) => help.includes(`  ${one} `));
    expect(isKnown, name).toBe(true);
  }
  const settings = new Set<string>(SETTINGS.map(({ env }) => env));
  for (const [name] of text.matchAll(/OPENPIT_[A-Z_]+/g)) expect(settings.has(name), name).toBe(true);
  for (const [, file] of text.matchAll(/\/opt\/openpit\/(deploy\/[\w.@-]+)/g)) {
    expect(existsSync(join(ROOT, file!)), file).toBe(true);
  }
});

/** `openpit` on the PATH, as on a server. */
async function installProgram(folder: string): Promise<void> {
  const path = join(folder, 'openpit');
  const command = PROGRAM_COMMAND.map((part) => `'${part}'`).join(' ');
  await Bun.write(path, `#!/bin/sh\nexec ${command} "$@"\n`);
  await chmod(path, 0o755);
}
