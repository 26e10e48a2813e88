import type { HistoryAnswer, HistoryRow, PriceMetadata } from './answers.ts';
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
  const metadata: Record<string, PriceMetadata> = {};
  let warnings: readonly string[] = [];
  for await (const page of historyPages(ask, params)) {
    rows.push(...page.rates);
    for (const [code, own] of Object.entries(page.metadata)) {
      metadata[code] = { ...own, source: joinedSources(metadata[code]?.source ?? 'none', own.source) };
    }
    warnings = page.warnings ?? []; // every page has those of the whole range
  }
  return { rows, metadata, warnings };
}

/** The sources of a symbol on several pages. A page without prices of it names `none`. */
function joinedSources(before: string, added: string): string {
  const names = new Set(`${before}, ${added}`.split(', '));
  names.delete('none');
  return [...names].join(', ') || 'none';
}
