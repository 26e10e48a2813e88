import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import packageJson from '../package.json';
import { OPENAPI, openApiFromCode, readmeFromCode } from '../scripts/docs.ts';
import { SCHEMA_VERSION } from '../src/ledger/schema/migrations.ts';
import { RELIABILITY, reliabilityFromResults } from './process/faults/doc.ts';

test('the table of settings in the README is the one in the code (npm run docs writes it)', async () => {
  const { before, after } = await readmeFromCode();
  expect(before).toBe(after);
});

test('docs/openapi.json is the document that the code serves (npm run docs writes it)', async () => {
  expect(await Bun.file(OPENAPI).text()).toBe(openApiFromCode());
});

test('docs/reliability.md is what `npm run faults` has found', async () => {
  expect(await Bun.file(RELIABILITY).text()).toBe(await reliabilityFromResults());
});

test('docs/upgrading.md knows this version and its schema', async () => {
  const text = await Bun.file(new URL('../docs/upgrading.md', import.meta.url)).text();
  expect(text).toContain(`| ${packageJson.version} | ${SCHEMA_VERSION} |`);
  expect(text).toMatch(new RegExp(`^\\| ${SCHEMA_VERSION} \\|`, 'm'));
});

test('links between the documents lead to files and headings that exist', async () => {
  const docs = new URL('../docs/', import.meta.url).pathname;
  const others = ['README', 'CONTRIBUTING', 'SECURITY', 'CHANGELOG', 'client/README'];
  const files = [...others.map((name) => `../${name}.md`), ...new Bun.Glob('**/*.md').scanSync(docs)];
  const headingsOf = async (path: string) =>
    [...(await Bun.file(path).text()).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchorOf(heading!));
  const broken: string[] = [];
  for (const file of files) {
    const path = new URL(file, `file://${docs}`).pathname;
    for (const [, link] of (await Bun.file(path).text()).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(link!)) continue;
      const [name, anchor] = link!.split('#') as [string, string | undefined];
      const target = name === '' ? path : new URL(name, `file://${path}`).pathname;
      const isThere = (await Bun.file(target).exists()) || existsSync(target);
      if (!isThere || (anchor && target.endsWith('.md') && !(await headingsOf(target)).includes(anchor))) {
        broken.push(`${file}: ${link}`);
      }
    }
  }
  expect(broken).toEqual([]);
});

/** As GitHub makes them. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}
