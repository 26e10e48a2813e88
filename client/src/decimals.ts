import { INTEGER_FIELDS } from './types.ts';

/** An integer field, a string, or a number. */
const TOKEN = new RegExp(
  `"(?:${INTEGER_FIELDS.join('|')})":\\d+|"(?:[^"\\\\]|\\\\.)*"|-?\\d[\\d.eE+-]*`,
  'g',
);

/** Parses JSON with its prices as strings, which have exactly the published digits. */
export function parseExact(json: string): unknown {
  return JSON.parse(json.replace(TOKEN, (token) => (token.startsWith('"') ? token : `"${token}"`)));
}
