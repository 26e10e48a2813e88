import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import chromium from '@sparticuz/chromium';
import { type Browser, type BrowserContextOptions, chromium as launcher, type Page } from 'playwright-core';

const ARTIFACTS = join(import.meta.dir, '..', '..', 'artifacts');

/** Visitors who go through every page: one at a desk, one with a phone. */
export const LOOKS = [
  { name: 'light-desktop', colorScheme: 'light', viewport: { width: 1280, height: 860 } },
  { name: 'dark-phone', colorScheme: 'dark', viewport: { width: 390, height: 844 } },
] as const;

/**
 * The widths at which a layout is checked. The style sheets have no rule for a width and a colour scheme together, so every width
 * has one scheme; axe needs seconds of CPU time for each.
 */
export const WIDTHS = [
  { name: '1440-light', colorScheme: 'light', viewport: { width: 1440, height: 860 } },
  { name: '1024-dark', colorScheme: 'dark', viewport: { width: 1024, height: 860 } },
  { name: '390-light', colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const;

/** A deadline only ends a test that hangs: a busy machine may need most of it. */
const DEADLINE_MS = 120_000;

/**
 * Chromium obeys only the last `--disable-features`, so this list starts with what Playwright disables and these pages could
 * notice. The popups of the address bar, which no test opens, take a renderer and 0.7 s of CPU time for every new page.
 */
const DISABLED_FEATURES = [
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'LensOverlay',
  'MediaRouter',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
];

const FLAGS = [
  '--no-sandbox',
  '--headless',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  `--disable-features=${DISABLED_FEATURES.join(',')}`,
];

/** The path of Chromium: `CHROMIUM_PATH`, the system's, or npm's, which exists for x64 only. Undefined if there is none. */
export async function browserPath(): Promise<string | undefined> {
  const named =
    process.env.CHROMIUM_PATH ??
    ['chromium', 'chromium-browser', 'google-chrome'].map((name) => Bun.which(name)).find(Boolean);
  return named ?? (process.arch === 'x64' ? chromium.executablePath() : undefined);
}

export async function openBrowser(): Promise<Browser> {
  const executablePath = await browserPath();
  if (!executablePath) throw new Error('no Chromium: install one, or name it in CHROMIUM_PATH');
  return launcher.launch({ executablePath, args: FLAGS });
}

/** The browser that the tests of a file share (`inBrowser`). */
export type LaunchedBrowser = () => Promise<Browser>;

/** A page that records what must not happen: errors in the console, requests to other hosts, violations of its content security policy. */
export interface WatchedPage {
  page: Page;
  complaints: string[];
  /** Bytes over the wire, by path. */
  bytes: Map<string, number>;
  /** Saves a screenshot of the viewport, or of the whole page. */
  shot(name: string, whole?: boolean): Promise<void>;
  close(): Promise<void>;
}

export async function openPage(
  browser: LaunchedBrowser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await (await browser()).newContext({ viewport: { width: 1280, height: 860 }, ...options });
  context.setDefaultTimeout(DEADLINE_MS);
  const page = await context.newPage();
  const complaints: string[] = [];
  const bytes = new Map<string, number>();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(`uncaught: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !/^(data|blob):/.test(request.url()))
      complaints.push(`a request to another host: ${request.url()}`);
  });
  page.on('requestfinished', async (request) => {
    const sizes = await request.sizes().catch(() => undefined);
    if (sizes) bytes.set(new URL(request.url()).pathname, sizes.responseBodySize + sizes.responseHeadersSize);
  });
  return {
    page,
    complaints,
    bytes,
    async shot(name, whole = false) {
      mkdirSync(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, `${name}.png`), fullPage: whole });
    },
    async close() {
      await page.unrouteAll({ behavior: 'ignoreErrors' }); // a held request may be on its way
      await context.close();
    },
  };
}

/** Holds the requests for some URLs until they are released, and counts them. */
export async function hold(page: Page, urls: RegExp): Promise<{ count: number; release(): void }> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = { count: 0, release };
  await page.route(urls, async (route) => {
    held.count++;
    await released;
    await route.continue();
  });
  return held;
}

export const OPERATOR_TOKEN = 'a-long-token-of-the-operator';

/** Signs the operator in on every page that is opened from now on. */
export async function signInAsOperator(page: Page, name = ''): Promise<void> {
  await page.addInitScript(
    `sessionStorage.setItem('openpit.admin', '${OPERATOR_TOKEN}'); sessionStorage.setItem('openpit.operator', '${name}')`,
  );
}

/** Opens a section of the operator's page, signed in with `OPERATOR_TOKEN`. */
export async function openOperatorPage(
  browser: LaunchedBrowser,
  origin: string,
  section: string,
  options: BrowserContextOptions = {},
  name = '',
): Promise<WatchedPage> {
  const watched = await openPage(browser, origin, options);
  await signInAsOperator(watched.page, name);
  await watched.page.goto(`${origin}/#/operator/${section}`);
  return watched;
}
