import type { LedgerSymbol } from '../../ledger/symbols.ts';
import { type Day, printDay } from '../../market/day.ts';
import { turns } from '../../turns.ts';
import { type Answer, priceEndpoint } from '../endpoint.ts';
import { columnsOf } from '../table.ts';

const COLUMNS = columnsOf(
  'symbol category name currency currencyName currencySymbol unit unitName status updateInterval firstDate lastDate',
);

/** GET /symbols: every symbol, sorted by code. */
export const symbols = priceEndpoint({
  name: 'symbols',
  path: '/symbols',
  needs: 'dates',

  read({ board }) {
    return { series: board.catalog.symbols.map(({ code }) => board.catalog.find(code)!) };
  },

  answer({ series }, prices) {
    const dated = series.map((one) => ({
      symbol: one.symbol,
      first: prices.firstDay(one),
      last: prices.lastDay(one),
    }));
    const isWritten = dated.filter(({ symbol }) => !written.has(symbol)).length <= WRITTEN_AT_ONCE;
    return isWritten ? answerOf(dated) : writeAll(dated).then(() => answerOf(dated));
  },
});

/** A symbol and its dates in the view that is asked. */
interface DatedSymbol {
  symbol: LedgerSymbol;
  first: Day | undefined;
  last: Day | undefined;
}

function answerOf(dated: readonly DatedSymbol[]): Answer {
  return {
    json: (sheet) => sheet.text(`{"success":true,"symbols":[${dated.map(jsonOf).join(',')}]}`),
    table: () => ({ columns: COLUMNS, rows: dated.map(recordOf).map(cellsOf) }),
    lasting: 'open',
  };
}

/** About 1 ms. */
const WRITTEN_AT_ONCE = 500;

/** The part of a record's JSON that does not change with the prices. */
const written = new WeakMap<LedgerSymbol, string>();

function jsonOf({ symbol, first, last }: DatedSymbol): string {
  const firstDate = first === undefined ? 'null' : `"${printDay(first)}"`;
  const lastDate = last === undefined ? 'null' : `"${printDay(last)}"`;
  return `${fixedPart(symbol)},"firstDate":${firstDate},"lastDate":${lastDate}}`;
}

/** Without the closing brace. */
function fixedPart(symbol: LedgerSymbol): string {
  const known = written.get(symbol);
  if (known !== undefined) return known;
  const { firstDate, lastDate, ...fixed } = recordOf({ symbol, first: undefined, last: undefined });
  const text = JSON.stringify(fixed).slice(0, -1);
  written.set(symbol, text);
  return text;
}

/** Ten thousand symbols are 3 MB of text: other requests are answered in between. */
async function writeAll(dated: readonly DatedSymbol[]): Promise<void> {
  for (const { symbol } of dated) {
    if (turns.isOver) await turns.next();
    fixedPart(symbol);
  }
}

type Record = ReturnType<typeof recordOf>;

function recordOf({ symbol, first, last }: DatedSymbol) {
  const { code, category, name, currency, unit, status, updateInterval } = symbol;
  return {
    symbol: code,
    category,
    name,
    currency,
    unit,
    status,
    updateInterval,
    firstDate: dateOrNull(first),
    lastDate: dateOrNull(last),
  };
}

function cellsOf({ currency, unit, ...one }: Record): (string | undefined)[] {
  return [
    one.symbol,
    one.category,
    one.name,
    currency.code,
    currency.name,
    currency.symbol,
    unit.symbol,
    unit.name,
    one.status,
    one.updateInterval,
    one.firstDate ?? undefined,
    one.lastDate ?? undefined,
  ];
}

function dateOrNull(day: Day | undefined): string | null {
  return day === undefined ? null : printDay(day);
}
