import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatFailures, parseReport } from './report.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'openpit-report-'));
  mkdirSync(join(folder, 'inner'));
  writeFileSync(
    join(folder, 'inner', 'assertions.test.ts'),
    `import { describe, expect, test } from 'bun:test';
     describe('group', () => {
       test('passes', () => { console.error('noise'.toUpperCase()); });
       test('differs', () => { expect(1 + 1).toBe(3); });
       test('hangs', async () => { await Bun.sleep(5_000); }, 50);
       test.skip('is skipped', () => {});
       test('is verbose', () => { throw new Error('line\\n'.repeat(200)); });
     });`,
  );
  writeFileSync(join(folder, 'broken.test.ts'), `import './missing.ts';`);
});

afterAll(() => rmSync(folder, { recursive: true }));

test('every failure is kept with its file, name and reason', async () => {
  const tests = Bun.spawn([process.execPath, 'test'], { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const report = parseReport(await new Response(tests.stderr).text());

  expect(report.passed).toBe(1);
  expect(report.failed).toBe(4);
  expect(report.failures.map(({ file, name }) => `${file}: ${name}`)).toEqual([
    'broken.test.ts: error outside the tests',
    'inner/assertions.test.ts: group > differs',
    'inner/assertions.test.ts: group > hangs',
    'inner/assertions.test.ts: group > is verbose',
  ]);
  const text = formatFailures(report.failures);
  expect(text).toContain('Expected: 3\nReceived: 2');
  expect(text).toContain('this test timed out after 50ms');
  expect(text).toContain("Cannot find module './missing.ts'");
  expect(text).not.toContain('NOISE');
  for (const { details } of report.failures) expect(details.length).toBeLessThanOrEqual(60);
});
