import type { Page } from 'playwright-core';

/** Records what is written on canvases, so that a test can read the axes of a chart. Call it before the page is opened. */
export async function recordDrawnText(page: Page): Promise<{
  clear(): Promise<void>;
  all(): Promise<string[]>;
  /** What does not fit on its canvas. */
  cutOff(): Promise<string[]>;
}> {
  await page.addInitScript(`
    globalThis.drawnText = new Set();
    globalThis.cutOffText = new Set();
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
      drawnText.add(text);
      const { actualBoundingBoxLeft, actualBoundingBoxRight, actualBoundingBoxAscent, actualBoundingBoxDescent } =
        this.measureText(text);
      const transform = this.getTransform();
      const start = transform.transformPoint({ x: x - actualBoundingBoxLeft, y: y - actualBoundingBoxAscent });
      const end = transform.transformPoint({ x: x + actualBoundingBoxRight, y: y + actualBoundingBoxDescent });
      const { width, height } = this.canvas;
      if (start.x < -1 || start.y < -1 || end.x > width + 1 || end.y > height + 1) cutOffText.add(text);
      return fillText.call(this, text, x, y, ...rest);
    };
  `);
  return {
    clear: () => page.evaluate('drawnText.clear(); cutOffText.clear()'),
    all: () => page.evaluate('[...drawnText]') as Promise<string[]>,
    cutOff: () => page.evaluate('[...cutOffText]') as Promise<string[]>,
  };
}
