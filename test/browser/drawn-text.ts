import type { Page } from 'playwright-core';

/** Records what is written on canvases, so that a test can read the axes of a chart. Call it before the page is opened. */
export async function recordDrawnText(
  page: Page,
): Promise<{ clear(): Promise<void>; all(): Promise<string[]> }> {
  await page.addInitScript(`
    globalThis.drawnText = new Set();
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
      drawnText.add(text);
      return fillText.call(this, text, ...rest);
    };
  `);
  return {
    clear: () => page.evaluate('drawnText.clear()'),
    all: () => page.evaluate('[...drawnText]') as Promise<string[]>,
  };
}
