import type { LatestAnswer } from '../../client/answers.ts';
import { type AskRates, RequestRefused, type StreamedPrice } from '../../client/ask.ts';
import { signed } from '../../client/signed.ts';
import { difference, percentChange, printNumber } from '../../market/decimal.ts';
import { type Colour, colourFor } from '../framework/colour.ts';
import type { Command, CommandCall } from '../framework/command.ts';
import { printLine, printMessage, terminalText } from '../framework/print-line.ts';
import { momentOf } from './latest.ts';
import { requestOf } from './output.ts';
import { SOURCE_FLAGS, streamFrom, withRates } from './source.ts';
import { aligned, alignedTable, sparkline } from './table.ts';

/** How often the ledger on this machine is read. */
const POLL_MS = 1_000;

/** How many of the last prices a sparkline shows. */
const PRICES_SHOWN = 30;

/** A new price of a symbol. */
type Quote = Omit<StreamedPrice, 'date'>;

export const watchCommand: Command = {
  name: 'watch',
  operands: ['SYMBOL...'],
  ledgerOptional: true,
  summary: 'Show live prices until Ctrl-C',
  details:
    'On a terminal it shows a table with the change since the start and a sparkline; elsewhere it prints a line for each new price. A server charges one unit for the connection and one for each hundred prices.',
  examples: ['watch XAU XAG', 'watch XAU --json --url https://rates.example.com'],
  flags: { json: { help: 'Print a line of JSON for each new price' }, ...SOURCE_FLAGS },
  async run(call) {
    const stopped = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
    const show = displayOf(call, () => stopped.abort());
    const streamed = streamFrom(call, call.operands, stopped.signal);
    if (streamed) return watch(streamed, show, stopped.signal);
    await withRates(call, (ask) =>
      watch(polled(ask, requestOf(call).symbols, stopped.signal), show, stopped.signal),
    );
  },
};

/** How a new price is shown: as JSON, in a table on a terminal, or as a line. */
function displayOf(call: CommandCall, onUnread: () => void): (quote: Quote) => void {
  if (call.isSet('json')) return (quote) => printLine(JSON.stringify(quote), onUnread);
  if (process.stdout.isTTY) return screen(colourFor(process.stdout, call.environment));
  return (quote) => printLine(plainLine(quote), onUnread);
}

async function watch(
  quotes: AsyncIterable<Quote>,
  show: (quote: Quote) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    for await (const quote of quotes) show(quote);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** New prices in the ledger on this machine. Symbols without a price are waited for, as in the stream of a server. */
async function* polled(ask: AskRates, symbols: string, signal: AbortSignal): AsyncGenerator<Quote> {
  const known = new Map<string, string>();
  const reported = new Set<string>();
  while (!signal.aborted) {
    const { quotes, missing } = await latestOf(ask, symbols);
    for (const quote of quotes) {
      const state = `${quote.at} ${quote.rate}`;
      if (known.get(quote.symbol) === state) continue;
      known.set(quote.symbol, state);
      yield quote;
    }
    for (const reason of missing) {
      if (!reported.has(reason)) printMessage(`openpit: ${reason} Waiting for a price.`);
      reported.add(reason);
    }
    await Promise.race([
      Bun.sleep(POLL_MS),
      new Promise((done) => signal.addEventListener('abort', done, { once: true })),
    ]);
  }
}

/** The newest prices, and why there are none of the other symbols. */
async function latestOf(ask: AskRates, symbols: string): Promise<{ quotes: Quote[]; missing: string[] }> {
  try {
    const { rates, metadata } = await ask<LatestAnswer>('/rates/latest', { symbols });
    const quotes = Object.entries(rates).map(([symbol, rate]) => {
      const { quote, unit, at = '', source } = metadata[symbol]!;
      return { symbol, rate, quote, unit, at, source };
    });
    return { quotes, missing: [] };
  } catch (error) {
    if (!(error instanceof RequestRefused) || error.code !== 'no_data') throw error;
    const codes = symbols.split(',');
    if (codes.length === 1) return { quotes: [], missing: [error.message] };
    const found = [];
    for (const code of codes) found.push(await latestOf(ask, code));
    return {
      quotes: found.flatMap(({ quotes }) => quotes),
      missing: found.flatMap(({ missing }) => missing),
    };
  }
}

function plainLine({ symbol, rate, quote, unit, at }: Quote): string {
  const measure = quote === 'none' ? '' : ` ${quote}/${unit}`;
  return `${momentOf(at)} ${symbol} ${printNumber(rate)}${measure}`;
}

/** A table that is drawn again for each new price, in its place. */
function screen(colour: Colour): (quote: Quote) => void {
  const watched = new Map<string, { first: number; quote: Quote; prices: number[] }>();
  let drawn = 0;
  return (quote) => {
    const one = watched.getOrInsertComputed(quote.symbol, () => ({ first: quote.rate, quote, prices: [] }));
    one.quote = quote;
    one.prices.push(quote.rate);
    if (one.prices.length > PRICES_SHOWN) one.prices.shift();
    const table = terminalText(watchTable([...watched.values()], colour));
    const lines = fitted(table.split('\n'), process.stdout);
    const up = drawn > 0 ? `\x1b[${drawn}A` : '';
    process.stdout.write(`${up}${lines.map((line) => `${line}\x1b[K\n`).join('')}`);
    drawn = lines.length;
  };
}

/** What fits on a terminal: a line that wraps, or one that scrolls, could not be drawn again in its place. */
function fitted(lines: readonly string[], { columns, rows }: { columns: number; rows: number }): string[] {
  const more = lines.length - (rows - 2);
  const shown = more <= 1 ? lines : [...lines.slice(0, -more), `… and ${more} more`];
  return shown.map((line) => Bun.sliceAnsi(line, 0, columns, '…'));
}

interface WatchedSymbol {
  /** The price when watching began. */
  first: number;
  quote: Quote;
  /** The last prices, oldest first. */
  prices: readonly number[];
}

function watchTable(watched: readonly WatchedSymbol[], colour: Colour): string {
  const prices = aligned(
    watched.map(({ quote }) => printNumber(quote.rate)),
    ' ',
  );
  const rows = watched.map(({ first, quote, prices: last }, i) => {
    const { symbol, rate, unit, quote: currency, at } = quote;
    const style = rate > first ? 'green' : rate < first ? 'red' : 'dim';
    const change = `${signed(difference(rate, first))} (${signed(percentChange(first, rate, 2))} %)`;
    return [
      colour(symbol, 'bold'),
      prices[i]!,
      currency === 'none' ? '' : `${currency}/${unit}`,
      colour(change, style),
      colour(sparkline(last), style),
      colour(momentOf(at), 'dim'),
    ];
  });
  const columns = [
    { head: 'symbol' },
    { head: 'price', isNumber: true as const },
    { head: 'in' },
    { head: 'since start', isNumber: true as const },
    { head: 'last prices' },
    { head: 'at' },
  ];
  return alignedTable(columns, rows);
}
