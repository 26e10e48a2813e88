import type { LatestAnswer } from '../../client/answers.ts';
import { csv } from '../../client/csv.ts';
import { printNumber } from '../../market/decimal.ts';
import { type Colour, colourFor } from '../framework/colour.ts';
import type { Command } from '../framework/command.ts';
import { printLine } from '../framework/print-line.ts';
import { CONVERSION_FLAGS, OUTPUT_FLAGS, outputOf, requestOf } from './output.ts';
import { SOURCE_FLAGS, withRates } from './source.ts';
import { aligned, alignedTable } from './table.ts';

export const latestCommand: Command = {
  name: 'latest',
  operands: ['SYMBOL...'],
  ledgerOptional: true,
  summary: 'Print the latest prices',
  details: 'A symbol is a code such as XAU, or a formula such as "{XAU}/{XAG}".',
  examples: ['latest XAU WTIOIL-FUT', 'latest XAU --currency EUR --unit kg --url https://rates.example.com'],
  flags: { ...CONVERSION_FLAGS, ...OUTPUT_FLAGS, ...SOURCE_FLAGS },
  async run(call) {
    const output = outputOf(call);
    const answer = await withRates(call, (ask) => ask<LatestAnswer>('/rates/latest', requestOf(call)));
    if (output === 'json') printLine(JSON.stringify(answer));
    else if (output === 'csv') printLine(latestCsv(answer));
    else printLine(latestTable(answer, colourFor(process.stdout, call.environment)));
  },
};

function latestTable({ rates, metadata }: LatestAnswer, colour: Colour): string {
  const codes = Object.keys(rates);
  const prices = aligned(
    codes.map((code) => printNumber(rates[code]!)),
    ' ',
  );
  const rows = codes.map((code, i) => {
    const { quote, unit, at, source, stale } = metadata[code]!;
    const measure = quote === 'none' ? '' : `${quote}/${unit}`;
    const origin = stale ? `${source}, stale` : source;
    return [colour(code, 'bold'), prices[i]!, measure, momentOf(at!), colour(origin, 'dim')];
  });
  const columns = [
    { head: 'symbol' },
    { head: 'price', isNumber: true as const },
    { head: 'in' },
    { head: 'at' },
    { head: 'source' },
  ];
  return alignedTable(columns, rows);
}

/** A moment to the second; a day stays a day. */
export function momentOf(at: string): string {
  return at.length === 10 ? at : `${at.slice(0, 10)} ${at.slice(11, 19)}`;
}

/** The columns of the service's own CSV. */
function latestCsv({ rates, metadata }: LatestAnswer): string {
  const rows = Object.entries(rates).map(([code, rate]) => {
    const { unit, quote, factor = 1, at, source, stale } = metadata[code]!;
    return [code, rate, unit, quote, factor, at!, source, String(stale ?? '')];
  });
  return csv(['symbol', 'rate', 'unit', 'quote', 'factor', 'at', 'source', 'stale'], rows);
}
