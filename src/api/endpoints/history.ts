import type { SourcedBar } from '../../board/columns.ts';
import type { Prices } from '../../board/prices.ts';
import type { DayRange } from '../../ledger/prices/past.ts';
import { type Day, printDay } from '../../market/day.ts';
import { INTERVALS, type Interval, intervalStart, laterInterval } from '../../market/interval.ts';
import type { AskedSymbol } from '../basket.ts';
import { type IntervalRow, piecesOf, type Span, windowsFrom } from '../download/interval-rows.ts';
import { INTERVAL_COLUMNS, intervalTable, rowWriter } from '../download/interval-table.ts';
import { ROWS_PER_UNIT, unitsByRows } from '../download/long-table.ts';
import { type Answer, type Context, type LedgerReads, priceEndpoint } from '../endpoint.ts';
import { refuse } from '../errors.ts';
import { type Cursor, printCursor, readCursor } from '../paging.ts';
import { echo, lastingOf, readBasket, readRange, single } from '../parameters.ts';
import type { Query } from '../query.ts';
import { type RatesQuestion, readRates } from '../question.ts';
import { bySymbol, measureJson, ohlcJson, sourceIdsOfAll, sourcesJson } from '../render.ts';
import { type Soon, soon } from '../soon.ts';

/** After so many bars a page ends, however few rows they fold to: the others are not kept waiting for longer. */
const BARS_MAX = 50_000;

/** GET /rates/history: open, high, low and close by interval over any span. JSON comes in pages, a table as a whole. */
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
    const { day, place } = readCursor(query, asked) ?? { day: first, place: 0 };
    const from = { day: intervalStart(interval, day), place };
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
    const isPaged = context.format === 'json' || context.past !== undefined;
    return isPaged ? pageOf(question, prices, context) : wholeOf(question, prices, context);
  },
});

/** What a request for history asks. */
interface HistoryQuestion extends RatesQuestion {
  first: Day;
  last: Day;
  interval: Interval;
  /** Names the question, for its cursors. */
  asked: string;
  from: Cursor;
}

function spanOf({ first, last, today, interval }: HistoryQuestion): Span {
  return { first, last: Math.min(last, today), interval };
}

/** All rows from the cursor on. */
function wholeOf(question: HistoryQuestion, prices: Prices, { board, now }: Context): Answer {
  const { symbols, last, from } = question;
  const table = intervalTable({ board, symbols, prices, span: spanOf(question), from, unitsOf: unitsByRows });
  return { table: () => table, lasting: lastingOf(last, symbols, now - prices.delayMs) };
}

/** One page. From the ledger, a table comes in pages too. */
function pageOf(question: HistoryQuestion, prices: Prices, context: Context): Soon<Answer> {
  const reading = pageFrom(question.from, question.symbols, prices, spanOf(question));
  return soon(readPage(reading, context.past), (page) => answerOf(question, page, prices, context));
}

function answerOf(
  { symbols, first, last, interval, asked, metadata }: HistoryQuestion,
  { rows: page, next }: Page,
  prices: Prices,
  { board, now }: Context,
): Answer {
  const cursor = next && printCursor(next, asked);
  return {
    json(sheet) {
      sheet.ascii(
        `{"success":true,"startDate":"${printDay(first)}","endDate":"${printDay(last)}","interval":"${interval}","rates":[`,
      );
      const codes = symbols.map(({ code }) => `","symbol":"${code}",`); // a known code has nothing to escape
      let separator = '';
      for (const row of page) {
        const factor = row.bars.at(-1)!.factor; // of an interval, that of its close
        const prices = ohlcJson(row).slice(1, -1);
        sheet.ascii(
          `${separator}{"date":"${printDay(row.day)}${codes[row.place]}${prices}${factor ? `,"factor":${factor.text}` : ''}}`,
        );
        separator = ',';
      }
      sheet.text(`],"next":${JSON.stringify(cursor ?? null)}`);
      if (metadata) {
        const bars = symbols.map((): SourcedBar[] => []);
        for (const row of page) for (const bar of row.bars) bars[row.place]!.push(bar);
        const record = ({ series }: AskedSymbol, i: number) =>
          `{${measureJson(prices.measure(series))},"source":${sourcesJson(board, sourceIdsOfAll(bars[i]!))}}`;
        sheet.text(`,"metadata":${bySymbol(symbols, record)}`);
      }
      sheet.ascii('}');
    },
    table: () => ({ columns: INTERVAL_COLUMNS, rows: page.map(rowWriter(board, symbols, prices)) }),
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

interface Page {
  rows: IntervalRow[];
  next: Cursor | undefined;
}

/** Reads a page to its end. Prices in memory are there at once; from the ledger, days are loaded before they are read. */
function readPage(reading: Generator<DayRange, Page>, past: LedgerReads | undefined): Soon<Page> {
  if (past) return loadPage(reading, past);
  let step = reading.next();
  while (!step.done) step = reading.next();
  return step.value;
}

async function loadPage(reading: Generator<DayRange, Page>, past: LedgerReads): Promise<Page> {
  for (;;) {
    const step = reading.next();
    if (step.done) return step.value;
    await past.load(step.value);
  }
}

/** How many intervals longer than a day are loaded at once. */
const INTERVALS_PER_LOAD = 4;

/** A page of rows from a place on, and where the next one begins. Yields the days it is about to read. */
function* pageFrom(
  from: Cursor,
  symbols: readonly AskedSymbol[],
  prices: Prices,
  span: Span,
): Generator<DayRange, Page> {
  const { interval, last } = span;
  const ahead = interval === 'day' ? Math.ceil(ROWS_PER_UNIT / symbols.length) + 1 : INTERVALS_PER_LOAD;
  const rows: IntervalRow[] = [];
  let bars = 0;
  let loadedTo = Number.NEGATIVE_INFINITY;
  for (const window of windowsFrom(from, symbols, prices, span)) {
    if (window.last > loadedTo) {
      loadedTo = Math.max(window.last, Math.min(last, laterInterval(interval, window.start, ahead) - 1));
      yield { first: window.first, last: loadedTo };
    }
    for (const piece of piecesOf(window, from, symbols, prices, interval)) {
      rows.push(...piece.rows);
      bars += piece.bars;
      const over = rows[ROWS_PER_UNIT];
      if (over) return { rows: rows.slice(0, ROWS_PER_UNIT), next: { day: over.day, place: over.place } };
      if (bars >= BARS_MAX) return { rows, next: piece.next.day <= last ? piece.next : undefined };
    }
  }
  return { rows, next: undefined };
}
