import { describe, expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  crowdedFolders,
  duplicateTypes,
  importCycles,
  readSources,
  wrongDirections,
} from '../scripts/structure.ts';
import { newFolder } from './support/ledger.ts';

test('no import of this program goes the wrong way', async () => {
  expect(wrongDirections(await readSources())).toEqual([]);
});

test('this program has no import cycles, crowded folders or ambiguous type names', async () => {
  const sources = await readSources();
  expect(importCycles(sources)).toEqual([]);
  expect(crowdedFolders(sources)).toEqual([]);
  expect(duplicateTypes(sources)).toEqual([]);
});

describe('in a made-up tree', () => {
  test.each([
    ['market/day.ts', `import { open } from '../ledger/ledger.ts';`, 'market may not import from ledger'],
    [
      'market/day.ts',
      `import type { Clock } from "../runtime/clock.ts";`,
      'market may not import from runtime',
    ],
    ['ledger/deep/bars.ts', `export * from '../../board/board.ts';`, 'ledger may not import from board'],
    [
      'board/view.ts',
      `import {\n  admit,\n  refuse,\n} from '../gate/gate.ts';`,
      'board may not import from gate',
    ],
    ['gate/key.ts', `import '../api/server.ts';`, 'gate may not import from api'],
    ['feeds/run.ts', `const x = await import('../board/board.ts');`, 'feeds may not import from board'],
    [
      'feeds/run.ts',
      `new Worker(new URL('../api/worker.ts', import.meta.url));`,
      'feeds may not import from api',
    ],
    ['api/pipeline.ts', `import { serve } from '../service.ts';`, 'api may not import from service.ts'],
    ['config.ts', `import { Board } from './board/board.ts';`, 'config.ts may not import from board'],
    [
      'ledger/bars.ts',
      `import { flat } from '../../test/support/ledgers.ts';`,
      'ledger may not import from ..',
    ],
    ['helpers/misc.ts', `export {};`, 'no rule for "helpers"'],
    ['api/page.tsx', `import { start } from '../cli/serve.ts';`, 'api may not import from cli'],
  ])('a wrong arrow in %s is found', async (file, text, complaint) => {
    const wrong = wrongDirections(await readSources(tree({ [file]: text })));
    expect(wrong).toHaveLength(1);
    expect(wrong[0]).toStartWith(`src/${file}: ${complaint}`);
  });

  test('every wrong arrow has a line of its own', async () => {
    const text = `import '../board/a.ts';\nimport '../ledger/b.ts';\nimport '../gate/c.ts';`;
    const sources = await readSources(tree({ 'feeds/run.ts': text, 'gate/run.ts': text }));
    expect(wrongDirections(sources)).toHaveLength(3);
  });

  test('right arrows, neighbours, packages and tests are no trouble', async () => {
    const root = tree({
      'ledger/bars.ts': `import { SQL } from 'bun';\nimport '../market/bar.ts';\nimport './engine.ts';`,
      'ledger/deep/down.ts': `import '../engine.ts';\nimport '../../runtime/clock.ts';`,
      'market/bar.test.ts': `import { Ledger } from '../ledger/ledger.ts';`,
      'main.ts': `import './cli/main.ts';`,
    });
    expect(wrongDirections(await readSources(root))).toEqual([]);
  });
});

describe('the structure of a made-up tree', () => {
  test('an import cycle is found, over any number of files, also by types alone', async () => {
    const sources = await readSources(
      tree({
        'board/a.ts': `import './b.ts';`,
        'board/b.ts': `import type { C } from './deep/c.ts';`,
        'board/deep/c.ts': `export type { A } from '../a.ts';`,
        'board/d.ts': `import './a.ts';`,
      }),
    );
    expect(importCycles(sources)).toEqual([
      'import cycle: src/board/a.ts, src/board/b.ts, src/board/deep/c.ts',
    ]);
  });

  test('a thirteenth file makes a folder crowded; tests do not count', async () => {
    const files = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`board/file-${i}.ts`, 'export {};']));
    const twelve = { ...files(12), 'board/file-1.test.ts': 'export {};', 'board/deep/x.ts': 'export {};' };
    expect(crowdedFolders(await readSources(tree(twelve)))).toEqual([]);
    const [complaint] = crowdedFolders(await readSources(tree(files(13))));
    expect(complaint).toStartWith('src/board: 13 files');
  });

  test('a type name that two files export is found', async () => {
    const sources = await readSources(
      tree({
        'board/a.ts': 'export interface Row {}\nexport interface Other {}',
        'ledger/b.ts': 'export type Row = string;\ninterface Other {}',
        'ledger/c.ts': 'export const Row = 1;',
      }),
    );
    expect(duplicateTypes(sources)).toEqual(['type Row is exported by src/board/a.ts, src/ledger/b.ts']);
  });
});

function tree(files: Readonly<Record<string, string>>): string {
  const root = newFolder();
  for (const [file, text] of Object.entries(files)) {
    const path = join(root, 'src', file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return root;
}
