import { parseNumber } from '../market/decimal.ts';
import { isMissing } from './formats/cell.ts';

export type DecimalMark = 'point' | 'comma';

const PLAIN = /^[+-]?\d+(\.\d+)?$/;
const POINT_GROUPED = /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const COMMA_GROUPED = /^[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/;
/** `1,234`: a thousand and more, or one and a bit. */
const EITHER = /^[1-9]\d{0,2}[.,]\d{3}$/;
const POWERS: Readonly<Record<string, string>> = { k: 'e3', m: 'e6', b: 'e9' };

/**
 * Whether a file writes 1.5 as `1.5` or as `1,5`. Undefined when it has commas in numbers and none of them tells; a
 * file that has both is refused.
 */
export function findDecimalMark(texts: Iterable<string>, delimiter: string): DecimalMark | undefined {
  let comma: string | undefined;
  let point: string | undefined;
  let either = false;
  for (const text of texts) {
    if (PLAIN.test(text) && (point !== undefined || !text.includes('.'))) continue;
    const body = bodyOf(text)?.digits ?? '';
    if (EITHER.test(body)) either ||= body.includes(',');
    else if (POINT_GROUPED.test(body) || /^\d*\.\d+$/.test(body)) point ??= text;
    else if (COMMA_GROUPED.test(body) || /^\d*,\d+$/.test(body)) comma ??= text;
    if (comma !== undefined && point !== undefined)
      throw new Error(
        `"${comma}" has a decimal comma and "${point}" a decimal point; say --decimal comma or point`,
      );
  }
  if (comma !== undefined) return 'comma';
  // Where a comma parts the columns, one inside a number was put there on purpose, in quotes: it groups thousands.
  return point !== undefined || !either || delimiter !== ';' ? 'point' : undefined;
}

/** A number as people write it: `1,234.5`, `1 234,5`, `−37.63`, `144.15K`. Undefined when it is none, or not sure. */
export function readNumber(text: string, mark: DecimalMark | undefined): number | 'missing' | undefined {
  if (mark !== 'comma' && PLAIN.test(text)) return parseNumber(text);
  if (isMissing(text)) return 'missing';
  const body = bodyOf(text);
  if (!body) return mark === 'comma' ? undefined : parseNumber(text); // such as 1.5e-3
  const { sign, digits, power } = body;
  if (mark === undefined && EITHER.test(digits)) return undefined;
  const grouped = mark === 'comma' ? COMMA_GROUPED : POINT_GROUPED;
  const ungrouped = grouped.test(digits) ? digits.replaceAll(mark === 'comma' ? '.' : ',', '') : digits;
  const plain = mark === 'comma' ? decimalPoint(ungrouped) : ungrouped;
  return plain === undefined ? undefined : parseNumber(`${sign}${plain}${power}`);
}

/** A sign, digits with their marks, and a power of ten such as K; spaces and apostrophes that group digits are dropped. */
function bodyOf(text: string): { sign: string; digits: string; power: string } | undefined {
  const match = /^([+\-−]?)\s*([\d.,]+(?:[ '’\u00a0\u202f]\d{3}\b[\d.,]*)*)\s?([kmb]?)$/i.exec(text);
  if (!match) return undefined;
  return {
    sign: match[1] === '−' ? '-' : match[1]!,
    digits: match[2]!.replace(/[ '’\u00a0\u202f]/g, ''),
    power: POWERS[match[3]!.toLowerCase()] ?? '',
  };
}

/** `12,5` as `12.5`; a point that groups nothing has no place in it. */
function decimalPoint(digits: string): string | undefined {
  return digits.includes('.') ? undefined : digits.replace(',', '.');
}
