import { afterEach, expect, test } from 'bun:test';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { demoFolder } from '../../support/database/demo-folder.ts';
import { newFolder } from '../../support/ledger.ts';
import { Program } from '../../support/program.ts';

const ROOT = join(import.meta.dir, '..', '..', '..');

let program: Program | undefined;
afterEach(async () => {
  await program?.end('SIGKILL');
  program = undefined;
});

test('the single-file build serves current and past prices, the page with all its files, and the API reference, away from its source', async () => {
  const folder = newFolder();
  const file = join(folder, 'openpit');
  build(file);
  program = await Program.start({ OPENPIT_DATA_DIR: await demoFolder() }, { command: [file], cwd: folder });
  expect(program.stdout).toContain('Real prices: openpit feed enable --all'); // it needs neither Node nor npx
  expect(await (await program.get('/console/config', '')).json()).toMatchObject({ command: 'openpit' });
  const latest = await program.get('/rates/latest?symbols=XAU');
  expect(await latest.json()).toMatchObject({ success: true, metadata: { XAU: { source: 'simulated' } } });
  const past = await program.get('/rates/revisions?symbols=XAU&date=2024-05-14'); // by a reader thread
  expect(await past.json()).toMatchObject({ success: true, rates: { XAU: [{ source: 'simulated' }] } });

  const page = await program.get('/', '');
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  const html = await page.text();
  const files = new Set(linksOf(html));
  expect(files.size).toBeGreaterThanOrEqual(3);
  for (const path of files) {
    const answer = await program.get(path, '');
    expect(answer.status, path).toBe(200);
    for (const more of linksOf(await answer.text())) files.add(more);
  }
  expect([...files].filter((path) => path.endsWith('.js')).length).toBeGreaterThanOrEqual(2); // the chart is a separate chunk

  const description = await program.get('/openapi.json', '');
  expect(description.status).toBe(200);
  expect((await description.text()).length).toBeGreaterThan(500);
  expect(await program.end()).toBe(0);
}, 180_000);

/** Copies the build that `npm test` has made, or makes one. */
function build(file: string): void {
  const { OPENPIT_TEST_PROGRAM: made } = process.env;
  if (made) {
    copyFileSync(made, file);
    return;
  }
  const built = Bun.spawnSync([process.execPath, 'scripts/build.ts', file], { cwd: ROOT });
  expect(built.stderr.toString()).toBe('');
  expect(built.exitCode).toBe(0);
}

function linksOf(text: string): string[] {
  return [...text.matchAll(/["'](\/console\/assets\/[^"']+)["']/g)].map(([, path]) => path!);
}
