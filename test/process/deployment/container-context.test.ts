import { expect, test } from 'bun:test';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from '../../support/ledger.ts';

const ROOT = join(import.meta.dir, '..', '..', '..');

test('what .dockerignore leaves is all that the build of the container needs', async () => {
  const rules = readFileSync(join(ROOT, 'deploy/Dockerfile.dockerignore'), 'utf8').split('\n');
  const context = newFolder();
  for (const rule of rules.filter((one) => one.startsWith('!')))
    cpSync(join(ROOT, rule.slice(1)), join(context, rule.slice(1)), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(context, 'node_modules'));
  const build = Bun.spawn([process.execPath, 'scripts/build.ts', join(context, 'openpit')], {
    cwd: context,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  expect([await new Response(build.stderr).text(), await build.exited]).toEqual(['', 0]);
}, 120_000);
