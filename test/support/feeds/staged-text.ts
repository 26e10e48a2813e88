import { type FileRules, stageTable } from '../../../src/feeds/import/stage-file.ts';
import { Staging } from '../../../src/feeds/import/staging.ts';
import { openText } from '../../../src/feeds/import/text-table.ts';
import { printDay } from '../../../src/market/day.ts';
import { marketOf } from '../../../src/market/session.ts';
import { textFile } from './price-text.ts';

/** Later days are refused. */
export const NOW = Date.parse('2026-11-17');

/** What a file says: its bars by symbol and day, and what could not be used, by line. */
export async function parse(text: string, given: Partial<FileRules> = {}) {
  const codes: string[] = [];
  const symbolOf = (code: string) => {
    if (!codes.includes(code)) codes.push(code);
    return { number: codes.indexOf(code), code, currency: 'USD', market: marketOf('SPOT') };
  };
  const rules = { columns: {}, now: NOW, symbolOf, ...given };
  using staging = new Staging();
  const report = await stageTable(await openText(textFile(text), rules.columns), rules, staging);
  const ids = codes.map((_, number) => number);
  const bars = [...staging.batches(ids, (remark) => report.refused.add(remark))]
    .flat()
    .map(({ symbolId, line: _, ...bar }) => ({ symbol: codes[symbolId]!, ...bar }));
  return { bars, missing: report.missing, refused: report.refused.lines };
}

/** The close of each day. */
export async function closes(text: string, given: Partial<FileRules> = {}) {
  const { bars } = await parse(text, given);
  return bars.map(({ day, close }): [string, number] => [printDay(day), close]);
}
