import { join } from 'node:path';
import type { Page } from 'playwright-core';

const SOURCE = await Bun.file(join(import.meta.dir, '../../node_modules/axe-core/axe.min.js')).text();

interface Finding {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** What axe finds serious or critical on the page or a part of it, one line each. A long page takes seconds of CPU time. */
export async function seriousFindings(page: Page, selector = 'html'): Promise<string[]> {
  await page.evaluate(SOURCE);
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify(selector)}, { resultTypes: ["violations"] })`,
  )) as {
    violations: Finding[];
  };
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join(' | ')}`,
    );
}
