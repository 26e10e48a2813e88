import type { HistoryAnswer, HistoryRow } from './answers.ts';
import type { AskRates, QueryValues } from './ask.ts';

/** All pages of a history, one after the other. */
export async function* historyPages(ask: AskRates, params: QueryValues): AsyncGenerator<HistoryAnswer> {
  let cursor: string | undefined;
  do {
    const page: HistoryAnswer = await ask<HistoryAnswer>('/rates/history', { ...params, cursor });
    yield page;
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
}

/** A whole history in memory. */
export async function wholeHistory(
  ask: AskRates,
  params: QueryValues,
): Promise<{ rows: HistoryRow[]; metadata: HistoryAnswer['metadata']; warnings: readonly string[] }> {
  const rows: HistoryRow[] = [];
  let metadata: HistoryAnswer['metadata'] = {};
  let warnings: readonly string[] = [];
  for await (const page of historyPages(ask, params)) {
    rows.push(...page.rates);
    metadata = { ...metadata, ...page.metadata };
    warnings = page.warnings ?? []; // every page has those of the whole range
  }
  return { rows, metadata, warnings };
}
