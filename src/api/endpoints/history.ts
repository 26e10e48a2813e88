import type { SourcedBar } from '../../board/columns.ts';
import type { Prices } from '../../board/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { type Day, printDay } from '../../market/day.ts';
import {
  type FoldedBar,
  foldBars,
  INTERVALS,
  type Interval,
  intervalStart,
  laterInterval,
} from '../../market/interval.ts';
import type { AskedSymbol } from '../basket.ts';
import { type Answer, type Context, type LedgerReads, priceEndpoint } from '../endpoint.ts';
import { refuse } from '../errors.ts';
import { type Cursor, printCursor, readCursor } from '../paging.ts';
import { echo, lastingOf, readBasket, readRange, single } from '../parameters.ts';
import type { Query } from '../query.ts';
import { type RatesQuestion, readRates } from '../question.ts';
import {
  bySymbol,
  measureCells,
  measureJson,
  ohlcCells,
  ohlcJson,
  sourceIdsOf,
  sourceNames,
} from '../render.ts';
import { type Soon, soon } from '../soon.ts';
import { columnsOf } from '../table.ts';

const COLUMNS = columnsOf('date symbol #open #high #low #close unit quote #factor source');

/** The most rows that an answer has. */
const ROWS_MAX = 2_000;

/** After so many bars a page ends, however few rows they fold to: the others are not kept waiting for longer. */
const BARS_MAX = 50_000;
const INTERVALS_A_PIECE = 4;

/** One interval of one symbol, which is known by its place in the request. */
interface Row extends FoldedBar<SourcedBar> {
  place: number;
}

/** GET /rates/history: open, high, low and close by interval over any span, in pages. */
export const history = priceEndpoint({
  name: 'history',
  path: '/rates/history',
  needs: 'all',

  read(context) {
    const { query, plan } = context;
    if (!plan.history) throw refuse('history_not_in_plan', { plan: plan.name });
    const basket = readBasket(query, plan);
    const { first, last } = readRange(query, Number.POSITIVE_INFINITY);
    const interval = readInterval(query);
    const asked = `${basket.codes} ${first} ${last} ${interval}`;
    const from = readCursor(query, asked) ?? { day: intervalStart(interval, first), place: 0 };
    return {
      ...readRates(context, basket, { name: 'startDate', day: first }),
      first,
      last,
      interval,
      asked,
      from,
    };
  },

  answer(question, prices, context) {
    const { symbols, first, last, today, interval, from } = question;
    const reading = pageFrom(from, symbols, prices, { first, last: Math.min(last, today), interval });
    return soon(readPage(reading, context.past), (page) => answerOf(question, page, prices, context));
  },
});

/** What a request for history asks. */
interface HistoryQuestion extends RatesQuestion {
  first: Day;
  last: Day;
  interval: Interval;
  asked: string;
  from: Cursor;
}

interface Page {
  rows: Row[];
  next: Cursor | undefined;
}

function answerOf(
  { symbols, first, last, interval, asked, metadata }: HistoryQuestion,
  { rows: page, next }: Page,
  prices: Prices,
  { board, now }: Context,
): Answer {
  const cursor = next && printCursor(next, asked);
  const measures = symbols.map(({ series }) => prices.measure(series));
  return {
    json(sheet) {
      const rates = page.map((row) => {
        const head = `{"date":"${printDay(row.day)}","symbol":${JSON.stringify(symbols[row.place]!.code)},`;
        const factor = factorOf(row);
        return `${head}${ohlcJson(row).slice(1, -1)}${factor ? `,"factor":${factor.text}` : ''}}`;
      });
      let content = `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","interval":"${interval}","rates":[${rates}],"next":${JSON.stringify(cursor ?? null)}`;
      if (metadata) {
        const bySource = symbols.map(() => new Set<number>());
        for (const row of page) for (const id of sourceIds(row)) bySource[row.place]!.add(id);
        content += `,"metadata":${bySymbol(symbols, (_, i) => `{${measureJson(measures[i]!)},"source":${JSON.stringify(sourceNames(board, [...bySource[i]!]))}}`)}`;
      }
      sheet.text(`${content}}`);
    },
    table: () => ({
      columns: COLUMNS,
      rows: page.map((row) => {
        const measure = measureCells(measures[row.place]!, factorOf(row));
        const { code } = symbols[row.place]!;
        return [printDay(row.day), code, ...ohlcCells(row), ...measure, sourceNames(board, sourceIds(row))];
      }),
    }),
    lasting: lastingOf(next ? laterInterval(interval, next.day, 1) - 1 : last, symbols, now - prices.delayMs),
    next: cursor,
  };
}

function readInterval(query: Query): Interval {
  const text = single(query, 'interval') ?? 'day';
  const interval = INTERVALS.find((one) => one === text.trim().toLowerCase());
  if (!interval) throw refuse('invalid_interval', { received: echo(text), intervals: INTERVALS });
  return interval;
}

/** Reads a page to its end. Prices in memory are there at once; from the ledger each piece is loaded first. */
function readPage(pieces: Generator<DayRange, Page>, past: LedgerReads | undefined): Soon<Page> {
  if (past) return loadPage(pieces, past);
  let step = pieces.next();
  while (!step.done) step = pieces.next();
  return step.value;
}

async function loadPage(pieces: Generator<DayRange, Page>, past: LedgerReads): Promise<Page> {
  for (;;) {
    const step = pieces.next();
    if (step.done) return step.value;
    await past.load(step.value);
  }
}

/**
 * The rows from a place on, by date and then in the order of symbols, and where the next page begins. The span is read
 * piece by piece, so that a page costs little more than what is on it. Each piece is announced before it is read.
 */
function* pageFrom(
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  { first, last, interval }: { first: Day; last: Day; interval: Interval },
): Generator<DayRange, Page> {
  const firstDays = symbols.map(({ series }) => prices.firstDay(series) ?? Number.POSITIVE_INFINITY);
  const intervals = Math.ceil((ROWS_MAX + 1) / symbols.length);
  const rows: Row[] = [];
  let bars = 0;
  let start = Math.max(from.day, Math.min(...firstDays));
  while (start <= last && rows.length <= ROWS_MAX && bars < BARS_MAX) {
    const wanted = interval === 'day' ? intervals : Math.min(intervals, INTERVALS_A_PIECE);
    const end = laterInterval(interval, start, wanted);
    const [low, high] = [Math.max(first, intervalStart(interval, start)), Math.min(last, end - 1)];
    yield { first: low, last: high };
    const piece = symbols.flatMap(({ series }, place) => {
      const own = prices.bars(series, low, high);
      bars += own.length;
      return foldBars(own, interval).map((bar): Row => ({ ...bar, place }));
    });
    piece.sort((a, b) => a.day - b.day || a.place - b.place);
    for (const row of piece) if (row.day > from.day || row.place >= from.place) rows.push(row);
    start = end;
  }
  const over = rows[ROWS_MAX];
  if (over) return { rows: rows.slice(0, ROWS_MAX), next: { day: over.day, place: over.place } };
  return { rows, next: start <= last ? { day: start, place: 0 } : undefined };
}

/** The factor of an interval is that of its close. */
function factorOf({ bars }: Row) {
  return bars.at(-1)!.factor;
}

function sourceIds({ bars }: Row): number[] {
  return bars.flatMap(sourceIdsOf);
}
