import { RequestRefused } from '../client/ask.ts';
import { inTermsOf } from '../client/terms.ts';

/** What the tools call the parameters of the interface. */
const ARGUMENTS = { startDate: '"from"', endDate: '"to"', quote: '"currency"' };

/** What to call next after an error, by its code. */
const NEXT_CALLS: Readonly<Record<string, string>> = {
  unknown_symbol:
    'Call find_symbols with the name of the commodity, then repeat with the code that it states.',
  invalid_formula: 'Put each code in braces, such as {XAU}/{XAG}. find_symbols finds codes.',
  no_data: 'Call find_symbols: it states the first and last date of each symbol.',
  date_in_future: 'Repeat with a day that is not after today, or call latest_prices.',
  invalid_date: 'Repeat with days that exist, as YYYY-MM-DD.',
  invalid_range: 'Repeat with the earlier day as "from".',
  too_many_symbols: 'Repeat with fewer symbols at a time.',
  history_not_in_plan: 'Call price_change or price_on_date, which the plan includes.',
  missing_key: 'Ask the user to set OPENPIT_KEY in the environment of "openpit mcp".',
  invalid_key: 'Ask the user to check OPENPIT_KEY in the environment of "openpit mcp".',
  quota_exhausted: 'Call usage (it is free) to see when the quota resets; do not repeat the call before.',
  rate_limited: 'Wait a second, then repeat the call once.',
  unavailable: 'Wait some seconds, then repeat the call once.',
  invalid_unit: 'Repeat without "unit", or with one that fits the commodity.',
  unknown_currency: 'Repeat without "currency", or with a code such as USD or EUR.',
};

/** The text of an error for a model: what was wrong, and the next call to make. */
export function errorText(error: unknown): string {
  const message = inTermsOf(ARGUMENTS, error instanceof Error ? error.message : String(error));
  const next =
    error instanceof RequestRefused && error.code !== undefined ? NEXT_CALLS[error.code] : undefined;
  return next === undefined ? message : `${message} ${next}`;
}
