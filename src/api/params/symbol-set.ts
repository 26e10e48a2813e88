import { partsOf } from '../model/query.ts';

/** The symbols of one request. */
export interface SymbolSet {
  /** The list as it was sent. It identifies the set. */
  readonly list: string;
  /** In upper case and in the order of the request, without empty entries and duplicates. */
  readonly codes: readonly string[];
}

/** With more codes, looking for a duplicate in the list takes longer than in a set. */
const SMALL_MAX = 16;

export function parseSymbols(list: string): SymbolSet {
  const codes: string[] = [];
  let known: Set<string> | undefined;
  for (const part of partsOf(list, ',')) {
    const code = part.trim().toUpperCase();
    if (codes.length >= SMALL_MAX) known ??= new Set(codes);
    if (code === '' || (known ? known.has(code) : codes.includes(code))) continue;
    codes.push(code);
    known?.add(code);
  }
  return { list, codes };
}
