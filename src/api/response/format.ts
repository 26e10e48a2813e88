import { refuse } from '../errors/errors.ts';
import type { Content } from '../model/answer.ts';
import { addMembers, encodeText, HEAD_ROOM, type UnsentBody } from '../model/byte-writer.ts';
import { asLongTable, type LongTable } from '../model/long-table.ts';
import type { QueryParams } from '../model/query.ts';
import { type Format, type TextFormat, writeTable } from '../model/table.ts';
import { echo, singleUnlessEmpty } from '../params/parameters.ts';
import { parsePreferences } from '../params/preferences.ts';
import { JSON_TYPE } from './headers.ts';

export const FORMATS: readonly Format[] = ['json', 'csv', 'ndjson', 'parquet'];

export const TYPES: Readonly<Record<Format, string>> = {
  json: JSON_TYPE,
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson; charset=utf-8',
  parquet: 'application/vnd.apache.parquet',
};

const FORMAT_OF_TYPE: Readonly<Record<string, Format>> = {
  'application/json': 'json',
  'text/csv': 'csv',
  'application/x-ndjson': 'ndjson',
  'application/ndjson': 'ndjson',
  'application/vnd.apache.parquet': 'parquet',
};

/** The body of a success, with space for its head in front. The part before `contentFrom` is excluded from its tag. */
export interface Body extends UnsentBody {
  contentFrom: number;
  /** Its media type. */
  type: string;
}

/** What the tag of a body covers. */
export function contentOf({ packet, length, contentFrom }: Body): Uint8Array<ArrayBuffer> {
  return packet.memory.subarray(HEAD_ROOM + contentFrom, HEAD_ROOM + length);
}

/** The body of a response that consists of its head alone. */
export function noBody(format: Format): Body {
  return { ...encodeText(''), contentFrom: 0, type: TYPES[format] };
}

/** The format that the URL requests, by its parameter or the end of its path; undefined if it names none. */
export function formatInUrl(query: QueryParams, pathFormat: Format | undefined): Format | undefined {
  const text = singleUnlessEmpty(query, 'format');
  if (text === undefined) return pathFormat;
  const format = FORMATS.find((one) => one === text.toLowerCase());
  if (!format) throw refuse('invalid_format', { received: echo(text), formats: FORMATS });
  if (pathFormat && format !== pathFormat) {
    const expected = `${pathFormat} or absent, because the path ends in .${pathFormat}`;
    throw refuse('invalid_parameter', { name: 'format', received: echo(text), expected });
  }
  return format;
}

/** The format that `Accept` requests: JSON unless it prefers another one by name. */
export function formatAccepted(accept: string | null): Format {
  if (accept === null || accept === '*/*') return 'json';
  let best: { format: Format; quality: number } | undefined;
  let wildcardQuality = 0; // a wildcard means JSON
  for (const { value: type, quality } of parsePreferences(accept)) {
    const format = Object.hasOwn(FORMAT_OF_TYPE, type) ? FORMAT_OF_TYPE[type] : undefined;
    if (format && quality > (best?.quality ?? 0)) best = { format, quality };
    if (type === '*/*' || type === 'application/*') wildcardQuality = Math.max(wildcardQuality, quality);
  }
  return best && best.quality >= wildcardQuality ? best.format : 'json';
}

/**
 * Encodes the content of an answer, or returns a table that is encoded elsewhere: a long one, or one in Parquet. `members`
 * are added to JSON, each with a leading comma.
 */
export function encodeContent(
  content: Exclude<Content, LongTable>,
  format: 'json' | TextFormat,
  members?: string,
): Body;
export function encodeContent(content: Content, format: Format, members?: string): Body | LongTable;
export function encodeContent(content: Content, format: Format, members = ''): Body | LongTable {
  const type = TYPES[format];
  if ('json' in content) {
    const json = members === '' ? content.json : `${content.json.slice(0, -1)}${members}}`;
    return { ...encodeText(json), contentFrom: content.untaggedLength ?? 0, type };
  }
  if ('packet' in content) {
    return { ...(members === '' ? content : addMembers(content, members)), contentFrom: 0, type };
  }
  if (!('rows' in content)) return content;
  if (format === 'parquet') return asLongTable(content);
  return { ...encodeText(writeTable(content, format as TextFormat)), contentFrom: 0, type };
}
