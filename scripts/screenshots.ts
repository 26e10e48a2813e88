/** `npm run screenshots`: draws the pictures of docs/images from a new demo, in a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/browser/browser.ts';
import { Program } from '../test/support/program.ts';

const IMAGES = join(import.meta.dir, '../docs/images');
const SIZE = { width: 1060, height: 640 };

const PICTURES: readonly {
  name: string;
  colorScheme: 'light' | 'dark';
  hash: string;
  isDrawn(page: Page): Promise<void>;
}[] = [
  {
    name: 'market',
    colorScheme: 'light',
    hash: '',
    isDrawn: (page) => page.locator('.sparkline').first().waitFor({ state: 'attached' }),
  },
  {
    name: 'symbol',
    colorScheme: 'dark',
    hash: '#/symbol/XAU?range=1Y',
    async isDrawn(page) {
      await page.locator('.chart canvas').first().waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
    },
  },
];

const dataDir = mkdtempSync(join(tmpdir(), 'openpit-screenshots-'));
const program = await Program.start({ OPENPIT_DATA_DIR: dataDir });
const browser = await openBrowser();
try {
  for (const { name, colorScheme, hash, isDrawn } of PICTURES) {
    const page = await browser.newPage({ viewport: SIZE, colorScheme });
    await page.goto(`${program.url}/${hash}`);
    await isDrawn(page);
    await Bun.sleep(1_000); // the chart draws its last frame
    await page.screenshot({ path: join(IMAGES, `${name}.png`) });
    await page.close();
    console.log(`docs/images/${name}.png`);
  }
} finally {
  await browser.close();
  await program.end();
  rmSync(dataDir, { recursive: true });
}
