import type { Quote } from '../api/answers.ts';
import { codesIn } from './formula.ts';
import type { MarketRows } from './market/rows.ts';

/** Significant digits of a computed rate. The last ones of a float are noise. */
const DIGITS = 12;

/** The newest quote of a formula: it is computed from those of its symbols, and as old as the oldest of them. */
export function quoteOfFormula(formula: string, rows: MarketRows): Quote | undefined {
  const codes = [...new Set(codesIn(formula))];
  const quotes = codes.map((code) => rows.get(code)?.quote).filter((quote) => quote !== undefined);
  const rateOf = (rate: (quote: Quote) => number | undefined) =>
    evaluate(formula, (code) => rate(quotes[codes.indexOf(code)]!) ?? Number.NaN);
  if (quotes.length < codes.length) return undefined;
  const rate = rateOf((quote) => quote.rate);
  if (!Number.isFinite(rate)) return undefined;
  const oldest = (field: 'at' | 'date') => quotes.map((quote) => quote[field]).sort()[0]!;
  // A formula has a close only on days on which all its symbols have one.
  const dates = new Set(quotes.map(({ before }) => before?.date));
  const [date] = dates;
  const close = rateOf(({ before }) => before?.close);
  return {
    rate,
    date: oldest('date'),
    at: oldest('at'),
    source: [...new Set(quotes.flatMap(({ source }) => source.split(', ')))].join(', '),
    stale: quotes.some(({ stale }) => stale),
    open: quotes.every(({ open }) => open),
    before: date && dates.size === 1 && Number.isFinite(close) ? { date, close } : null,
  };
}

/** The value of a formula; NaN if it has none. */
function evaluate(formula: string, of: (code: string) => number): number {
  const tokens = formula.match(/\{[^{}]+\}|[\d.]+|\S/g) ?? [];
  let at = 0;
  const operand = (): number => {
    const token = tokens[at++] ?? '';
    if (token === '-') return -operand();
    if (token === '(') {
      const value = sum();
      at++;
      return value;
    }
    return token.startsWith('{') ? of(token.slice(1, -1)) : Number.parseFloat(token);
  };
  const product = (): number => {
    let value = operand();
    while (tokens[at] === '*' || tokens[at] === '/') {
      value = tokens[at++] === '*' ? value * operand() : value / operand();
    }
    return value;
  };
  const sum = (): number => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-') {
      value = tokens[at++] === '+' ? value + product() : value - product();
    }
    return value;
  };
  const value = Number(sum().toPrecision(DIGITS));
  return at < tokens.length ? Number.NaN : value;
}
