import { z } from 'zod';
import type { AskRates } from '../client/ask.ts';
import type { Horizon } from './horizon.ts';

/** A question that a model can ask. */
export interface Tool<Input extends z.ZodObject = z.ZodObject> {
  name: string;
  title: string;
  description: string;
  input: Input;
  answer(args: z.output<Input>, ask: AskRates, horizon: Horizon): Promise<ToolAnswer>;
}

/** Short text that cannot be misread, and where the rest of the data is. */
export interface ToolAnswer {
  text: string;
  /** The resource with the complete data, if the text is a summary. */
  resource?: { uri: string; name: string };
}

/**
 * Hides the input's own type: the server validates the arguments by it before it calls `answer`. Unknown arguments are
 * refused: a model that sends `quote: EUR` would otherwise take the price in dollars for one in euros.
 */
export function tool<Input extends z.ZodObject>(definition: Tool<Input>): Tool {
  const { shape } = definition.input;
  const input = z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? unknownArguments(issue.keys, Object.keys(shape)) : undefined,
  });
  return { ...definition, input } as unknown as Tool;
}

function unknownArguments(unknown: readonly string[], known: readonly string[]): string {
  const there = known.length === 0 ? 'this tool has none' : `the arguments are ${known.join(', ')}`;
  return `there is no argument ${unknown.join(', ')}; ${there}`;
}

/** Sends no requests after a cancellation: each would cost a unit, for an answer that nobody reads. */
export function askUntil(cancelled: AbortSignal, ask: AskRates): AskRates {
  return async (path, params) => {
    cancelled.throwIfAborted();
    return ask(path, params);
  };
}

const SYMBOLS_MAX = 20;

export const symbols = z
  .array(z.string().min(1))
  .min(1)
  .max(SYMBOLS_MAX)
  .describe(
    'Symbol codes such as XAU or WTIOIL-FUT (find_symbols finds them), or formulas such as {XAU}/{XAG}',
  );

/** The rows of a list would be mixed into one series. */
export const oneSymbol = z
  .string()
  .min(1)
  .refine((text) => !text.includes(','), 'must be one symbol or formula, not a list: repeat it for each');

export const date = (what: string) =>
  z
    .string()
    .regex(/^\d{4}-\d{2}-\d{2}$/, 'must be a day as YYYY-MM-DD')
    .describe(`${what}, as YYYY-MM-DD`);

/** How a price is expressed. */
export const conversion = {
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/, 'must be a currency code of three letters')
    .optional()
    .describe('Convert to this currency, such as EUR. By default each price is in its own currency.'),
  unit: z
    .string()
    .optional()
    .describe('Convert to this unit, such as kg or MT. By default each price is per its own unit.'),
};

/** The parameters of the interface for symbols and conversion. */
export function symbolParams({
  symbols,
  currency,
  unit,
}: {
  symbols: readonly string[];
  currency?: string | undefined;
  unit?: string | undefined;
}): Record<string, string | undefined> {
  return { symbols: symbols.join(','), quote: currency?.toUpperCase(), unit };
}
