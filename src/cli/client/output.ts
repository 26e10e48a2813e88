import { type CommandCall, type Flag, JSON_FLAG, UsageError } from '../framework/command.ts';

/** How a client command prints: for people, or for programs. */
export const OUTPUT_FLAGS: Readonly<Record<string, Flag>> = { ...JSON_FLAG, csv: { help: 'Print CSV' } };

/** How prices are expressed. */
export const CONVERSION_FLAGS: Readonly<Record<string, Flag>> = {
  currency: { value: 'CODE', help: 'Convert to this currency, for example EUR' },
  unit: { value: 'UNIT', help: 'Convert to this unit, for example kg' },
};

export function outputOf(call: CommandCall): 'json' | 'csv' | 'table' {
  if (call.isSet('json') && call.isSet('csv')) throw new UsageError('use --json or --csv, not both');
  if (call.isSet('json')) return 'json';
  return call.isSet('csv') ? 'csv' : 'table';
}

/** The parameters for symbols and conversion. */
export function requestOf(call: CommandCall): { symbols: string; quote?: string; unit?: string } {
  const [quote, unit] = [call.flag('currency'), call.flag('unit')];
  return {
    symbols: call.operands.join(','),
    ...(quote !== undefined && { quote: quote.toUpperCase() }),
    ...(unit !== undefined && { unit }),
  };
}
