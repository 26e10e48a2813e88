import { RequestRefused } from '../client/ask.ts';
import { inTermsOf } from '../client/terms.ts';

/** What the tools call the parameters of the interface. */
const ARGUMENTS = {
  startDate: '"from"',
  endDate: '"to"',
  quote: '"currency"',
  'without quote': 'without "currency"',
};

/** What messages say to clients over HTTP and to operators, in terms of what an agent can do. */
const REPLACEMENTS: readonly [said: RegExp, instead: string][] = [
  [/ GET \/symbols lists all codes\./g, ''], // the next call says how to find them
  [/GET \/symbols lists them\./g, 'find_symbols finds them.'],
  [/GET \/symbols lists what (\S+) is made of\./g, 'find_symbols states what $1 is made of.'],
  [/see \/rates\/history\b/g, 'see price_series'],
  [/Use \/rates\/history for long ranges/g, 'Use price_series for long ranges'],
  [/ Use \/rates\/time-series, or ask the operator/g, ' Ask the operator'],
  [/ \/rates\/statistics allows /g, ' this tool allows '],
  [/^There is nothing at \/.*/s, 'The server does not have this interface at its address.'],
  [/^\/\S+ is answered by servers only/, 'Only servers answer this'],
  [/ with "openpit [^"]*"/g, ''],
  [/; curl sends them only with -g|; in a URL, write \+ as %2B/g, ''],
  [/Send codes separated by commas, for example symbols=([^\s.]+)/g, 'Send codes, for example $1'],
  [/separate codes with commas: symbols=/g, 'send each code by itself: '],
  [/ Send it in the header "x-api-key" or as the parameter "apiKey"\./g, ''],
  [/ (?:Wait for|Retry after) the number of seconds in "Retry-After"\./g, ''],
];

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
  missing_key: 'Ask the user to set OPENPIT_KEY in the environment of this MCP server.',
  invalid_key: 'Ask the user to check OPENPIT_KEY in the environment of this MCP server.',
  not_found: 'Ask the user to check the address of the server in the configuration of this MCP server.',
  quota_exhausted: 'Call usage (it is free) to see when the quota resets; do not repeat the call before.',
  rate_limited: 'Wait a second, then repeat the call once.',
  unavailable: 'Wait some seconds, then repeat the call once.',
  invalid_unit: 'Repeat without "unit", or with one that fits the commodity.',
  unknown_currency: 'Repeat without "currency", or with a code such as USD or EUR.',
};

/** The text of an error for a model: what was wrong, and the next call to make. */
export function errorText(error: unknown): string {
  const message = forAgents(error instanceof Error ? error.message : String(error));
  const next =
    error instanceof RequestRefused && error.code !== undefined ? NEXT_CALLS[error.code] : undefined;
  return next === undefined ? message : `${message} ${next}`;
}

/** A message of the service without routes and commands, which an agent cannot call. */
function forAgents(message: string): string {
  const named = inTermsOf(ARGUMENTS, message);
  return REPLACEMENTS.reduce((text, [said, instead]) => text.replace(said, instead), named);
}
