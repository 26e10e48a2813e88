/** `npm run screenshots`: draws the pictures of docs/images from a new demo, in a real browser. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { openBrowser } from '../test/browser/browser.ts';
import { Program } from '../test/support/program.ts';

const IMAGES = join(import.meta.dir, '../docs/images');
const SIZE = { width: 1240, height: 760 };

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
    hash: '#/symbol/XAU?range=1Y&average=20,50',
    async isDrawn(page) {
      await page.locator('.chart canvas').first().waitFor();
      await page.getByText('Loading…').waitFor({ state: 'detached' });
    },
  },
  {
    name: 'compare',
    colorScheme: 'light',
    hash: '#/symbol/XAU?range=5Y&compare=XAG,PL&currency=EUR',
    async isDrawn(page) {
      await page.locator('.legend.compared').nth(1).waitFor();
      await page.locator('.chart canvas').first().waitFor();
    },
  },
  {
    name: 'search',
    colorScheme: 'dark',
    hash: '',
    async isDrawn(page) {
      await page.locator('.sparkline').first().waitFor({ state: 'attached' });
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Find a symbol' }).fill('cooper');
      await page.getByRole('option').first().waitFor();
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
