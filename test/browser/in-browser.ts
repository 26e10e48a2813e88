import { afterAll, describe, setDefaultTimeout } from 'bun:test';
import type { Browser } from 'playwright-core';
import { browserPath, type LaunchedBrowser, openBrowser } from './browser.ts';

const isInstalled = (await browserPath()) !== undefined;

/** Tests that share a browser, which the first page launches. Without a Chromium they are reported as skipped. */
export function inBrowser(title: string, tests: (browser: LaunchedBrowser) => void): void {
  const reason = isInstalled ? '' : ' (skipped: no Chromium for this machine)';
  describe.skipIf(!isInstalled)(title + reason, () => {
    setDefaultTimeout(180_000);
    let launched: Promise<Browser> | undefined;
    afterAll(async () => (await launched)?.close());
    tests(() => {
      launched ??= openBrowser();
      return launched;
    });
  });
}
