import { printDay } from '../../market/day.ts';
import { priceEndpoint } from '../endpoint.ts';
import { findSymbols, readCodes, readDay, wantsMetadata } from '../parameters.ts';
import { bySymbol, measureJson, ohlcCells, ohlcJson } from '../render.ts';
import { columnsOf } from '../table.ts';

const COLUMNS = columnsOf(
  'date symbol #revision #open #high #low #close unit quote source recordedAt reason',
);

/** GET /rates/revisions: every version of one day's bar, the oldest first. A day without a bar has none. */
export const revisions = priceEndpoint({
  name: 'revisions',
  path: '/rates/revisions',
  needs: 'recent',

  read({ query, plan, board, now }) {
    const codes = readCodes(query, plan);
    const day = readDay(query, 'date');
    const metadata = wantsMetadata(query);
    const { symbols } = findSymbols(codes, board, now, { name: 'date', day });
    return { symbols, series: symbols.map((asked) => asked.series), day, metadata };
  },

  async answer({ symbols, day, metadata }, prices, { board, now }) {
    const view = board.view(prices.delayMs);
    const found = await Promise.all(symbols.map(({ series }) => board.revisions(series, day, view, now)));
    const recordedAt = (ms: number) => new Date(ms).toISOString();
    return {
      json() {
        const rates = bySymbol(symbols, (_, i) => {
          const records = found[i]!.map((bar) => {
            const source = JSON.stringify(board.sourceName(bar.sourceId));
            return `${ohlcJson(bar).slice(0, -1)},"source":${source},"recordedAt":"${recordedAt(bar.recordedAt)}","reason":${JSON.stringify(bar.reason)},"revision":${bar.revision}}`;
          });
          return `[${records.join(',')}]`;
        });
        let content = `{"success":true,"date":"${printDay(day)}","rates":${rates}`;
        if (metadata) {
          content += `,"metadata":${bySymbol(symbols, ({ series }) => `{${measureJson(prices.measure(series))}}`)}`;
        }
        return { prefix: '', content: `${content}}` };
      },
      table: () => ({
        columns: COLUMNS,
        rows: symbols.flatMap(({ code, series }, i) => {
          const { unit, quote } = prices.measure(series);
          return found[i]!.map((bar) => [
            printDay(day),
            code,
            String(bar.revision),
            ...ohlcCells(bar),
            unit,
            quote,
            board.sourceName(bar.sourceId),
            recordedAt(bar.recordedAt),
            bar.reason ?? undefined,
          ]);
        }),
      }),
      lasting: 'open', // a correction may come at any moment, and this is where one looks for it
    };
  },
});
