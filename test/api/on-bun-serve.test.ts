import { expect, test } from 'bun:test';
import { join } from 'node:path';

const FILES = [
  'latest',

  'status-304',
  'status-400',
  'status-401',
  'status-405',
  'compression',
  'cors',
  'push',
];

test('a representative part of the API suite passes on Bun.serve (OPENPIT_HTTP=bun)', async () => {
  const files = [...FILES.map((name) => `test/api/${name}.test.ts`), 'test/security/injection.test.ts'];
  const child = Bun.spawn([process.execPath, 'test', '--timeout', '120000', '-t', 'on sqlite', ...files], {
    cwd: join(import.meta.dir, '../..'),
    env: { ...process.env, OPENPIT_HTTP: 'bun' },
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [code, output] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  expect(output).toMatch(/^ [1-9]\d+ pass$/m);
  expect(code, output).toBe(0);
}, 180_000);
