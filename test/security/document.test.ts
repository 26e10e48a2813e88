import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROWS } from '../process/faults/rows.ts';

const ROOT = join(import.meta.dir, '..', '..');

test('docs/security.md covers all ten risks, and the tests and files it names exist', async () => {
  const text = await Bun.file(join(ROOT, 'docs', 'security.md')).text();
  for (let i = 1; i <= 10; i++) expect(text).toContain(`### API${i}: `);
  const paths = [...text.matchAll(/`((?:test|src|deploy)\/[\w./-]+)`/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(30);
  for (const path of paths) expect(existsSync(join(ROOT, path)), path).toBe(true);
  const rows = [...text.matchAll(/rows? ((?:`[\w-]+`(?:, )?)+)/g)].flatMap(
    ([, names]) => names!.match(/[\w-]+/g)!,
  );
  expect(rows.length).toBeGreaterThan(5);
  for (const name of rows)
    expect(
      ROWS.map((row) => row.name as string),
      name,
    ).toContain(name);
});
