/**
 * `npm run screenshots`: draws the pictures of docs/images from a new demo, in a real browser, and every page in light and dark at
 * three widths in artifacts/pages/, to be looked at. `npm run screenshots -- market symbol` draws only pages with such names.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { OPERATOR_TOKEN, openBrowser, signInAsOperator, WIDTHS } from '../test/browser/browser.ts';
import { Program } from '../test/support/program.ts';

const ROOT = join(import.meta.dir, '..');
const IMAGES = join(ROOT, 'docs/images');
const REVIEWED = join(ROOT, 'artifacts/pages');
const SIZE = { width: 1240, height: 760 };

interface View {
  name: string;
  hash: string;
  isDrawn(page: Page): Promise<unknown>;
}

const hasSparklines = (page: Page) => page.locator('.sparkline').first().waitFor({ state: 'attached' });
const hasChart = async (page: Page) => {
  await page.locator('.chart canvas').first().waitFor();
  await page.locator('.legend-day').waitFor();
  await page.getByText('Loading…').waitFor({ state: 'detached' });
};
const hasText = (text: string) => async (page: Page) => {
  await page.getByText(text).first().waitFor({ state: 'attached' }); // a phone hides the heads of tables
  await page.locator('.loading').first().waitFor({ state: 'detached' });
};

const PICTURES: readonly (View & { colorScheme: 'light' | 'dark'; size?: typeof SIZE })[] = [
  { name: 'market', colorScheme: 'light', hash: '', isDrawn: hasSparklines },
  { name: 'symbol', colorScheme: 'dark', hash: '#/symbol/XAU?range=1Y&average=20,50', isDrawn: hasChart },
  {
    name: 'compare',
    colorScheme: 'light',
    hash: '#/symbol/XAU?range=5Y&compare=XAG,PL&currency=EUR',
    isDrawn: hasChart,
  },
  {
    name: 'search',
    colorScheme: 'dark',
    hash: '',
    async isDrawn(page) {
      await hasSparklines(page);
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Find a symbol' }).fill('cooper');
      await page.getByRole('option').first().waitFor();
    },
  },
  { name: 'operator', colorScheme: 'light', hash: '#/operator', isDrawn: hasText('serves this page') },
  { name: 'phone', colorScheme: 'dark', size: { width: 390, height: 844 }, hash: '', isDrawn: hasSparklines },
];

const PAGES: readonly View[] = [
  { name: 'market', hash: '', isDrawn: hasSparklines },
  { name: 'symbol', hash: '#/symbol/XAU', isDrawn: hasChart },
  { name: 'compare', hash: '#/symbol/XAU?range=5Y&compare=XAG,PL&currency=EUR', isDrawn: hasChart },
  { name: 'intraday', hash: '#/symbol/XAU?range=1D', isDrawn: hasChart },
  { name: 'account', hash: '#/account', isDrawn: hasText('Usage by day and endpoint') },
  { name: 'operator-overview', hash: '#/operator', isDrawn: hasText('serves this page') },
  { name: 'operator-feeds', hash: '#/operator/feeds', isDrawn: hasText('that can be turned on') },
  { name: 'operator-prices', hash: '#/operator/prices', isDrawn: hasText('New formula') },
  { name: 'operator-customers', hash: '#/operator/customers', isDrawn: hasText('Units per month') },
  { name: 'operator-audit', hash: '#/operator/audit', isDrawn: hasText('Audit log') },
  { name: 'operator-maintenance', hash: '#/operator/maintenance', isDrawn: hasText('Webhook secret') },
  { name: 'docs', hash: '#/docs', isDrawn: hasText('quota_exhausted') },
  { name: 'reference', hash: '#/docs/reference/getRatesLatest', isDrawn: hasText('All error codes') },
];

const wanted = process.argv.slice(2);
const isWanted = ({ name }: View) => wanted.length === 0 || wanted.some((part) => name.startsWith(part));
const dataDir = mkdtempSync(join(tmpdir(), 'openpit-screenshots-'));
const program = await Program.start({ OPENPIT_DATA_DIR: dataDir, OPENPIT_ADMIN_TOKEN: OPERATOR_TOKEN });
const browser = await openBrowser();
try {
  mkdirSync(REVIEWED, { recursive: true });
  for (const { colorScheme, size = SIZE, ...view } of wanted.length === 0 ? PICTURES : [])
    await draw(view, { colorScheme, viewport: size }, join(IMAGES, `${view.name}.png`), false);
  for (const { viewport } of WIDTHS) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const size = `${viewport.width}-${colorScheme}`;
      for (const view of PAGES.filter(isWanted))
        await draw(view, { colorScheme, viewport }, join(REVIEWED, `${view.name}-${size}.png`), true);
    }
  }
} finally {
  await browser.close();
  await program.end();
  rmSync(dataDir, { recursive: true });
}

async function draw(
  { hash, isDrawn }: View,
  options: { colorScheme: 'light' | 'dark'; viewport: { width: number; height: number } },
  path: string,
  isWhole: boolean,
): Promise<void> {
  const page = await browser.newPage(options);
  page.setDefaultTimeout(120_000);
  await signInAsOperator(page);
  await page.goto(`${program.url}/${hash}`);
  await isDrawn(page);
  await Bun.sleep(1_000); // the chart draws its last frame
  if (isWhole) await page.evaluate('scrollTo(0, 0)'); // a bar that sticks would be in the middle of the picture
  await page.screenshot({ path, fullPage: isWhole });
  await page.close();
  console.log(path.slice(ROOT.length + 1));
}
