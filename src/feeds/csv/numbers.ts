import { parseNumber, roundPrice } from '../../market/decimal.ts';
import { isMissing } from '../formats/cell.ts';

export type DecimalMark = 'point' | 'comma';

/** A price, and the currency in its text, if any: `$`, `€`, `USD`. */
export interface ReadPrice {
  value: number;
  currency?: string;
}

const PLAIN = /^[+-]?\d+(\.\d+)?$/;
const POINT_GROUPED = /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const COMMA_GROUPED = /^[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/;
/** `1,234` may be 1234 or 1.234. */
const AMBIGUOUS = /^[1-9]\d{0,2}[.,]\d{3}$/;
const POWERS: Readonly<Record<string, string>> = { k: 'e3', m: 'e6', b: 'e9' };

const SIGN = String.raw`US\$|[$€£¥¢]`;
/** A currency before or after a number: `-$5`, `USD 12.3`, `12.3 €`. */
const BEFORE = new RegExp(String.raw`^([+\-−]?)\s*(${SIGN}|[A-Z]{3})\s*([+\-−]?\s*[\d.,].*)$`, 'i');
const AFTER = new RegExp(String.raw`^(.*[\d.,])\s*(${SIGN}|[A-Z]{3})$`, 'i');
/** `($36.98)`: a negative amount in a spreadsheet. */
const NEGATIVE = new RegExp(String.raw`^\(\s*((?:${SIGN}).*|.*(?:${SIGN}))\)$`);

/** Longer texts are not prices. */
const CHARS_MAX = 64;

/** The currencies that a sign may mean. */
const CURRENCIES: Readonly<Record<string, readonly string[]>> = {
  $: ['USD', 'AUD', 'CAD', 'HKD', 'MXN', 'NZD', 'SGD'],
  US$: ['USD'],
  '€': ['EUR'],
  '£': ['GBP'],
  '¥': ['JPY', 'CNY'],
  '¢': ['USX'],
};

/** Whether a sign or code beside a price can mean a currency. */
export function isCurrency(sign: string, code: string): boolean {
  return sign === code || (CURRENCIES[sign]?.includes(code) ?? false);
}

/** Whether the value of a price depends on the decimal mark of its file. */
export function needsDecimalMark(text: string): boolean {
  return text.includes(',');
}

/** Finds whether a file writes 1.5 as `1.5` or as `1,5`. Rejects a file with both. */
export class DecimalMarkFinder {
  readonly #delimiter: string;
  #comma: string | undefined;
  #point: string | undefined;
  #isAmbiguous = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  add(text: string): void {
    if (PLAIN.test(text) && (this.#point !== undefined || !text.includes('.'))) return;
    if (text.length > CHARS_MAX) return;
    const body = bodyOf(splitCurrency(text).amount)?.digits ?? '';
    if (AMBIGUOUS.test(body)) this.#isAmbiguous ||= body.includes(',');
    else if (POINT_GROUPED.test(body) || /^\d*\.\d+$/.test(body)) this.#point ??= text;
    else if (COMMA_GROUPED.test(body) || /^\d*,\d+$/.test(body)) this.#comma ??= text;
    if (this.#comma !== undefined && this.#point !== undefined)
      throw new Error(
        `"${this.#comma}" has a decimal comma and "${this.#point}" a decimal point; use --decimal comma or point`,
      );
  }

  /** Undefined if every number with a comma is ambiguous. */
  get mark(): DecimalMark | undefined {
    if (this.#comma !== undefined) return 'comma';
    // In a comma-separated file a quoted number with a comma groups thousands.
    return this.#point !== undefined || !this.#isAmbiguous || this.#delimiter === ',' ? 'point' : undefined;
  }
}

/**
 * A price as people write it: `1,234.5`, `1 234,5`, `−37.63`, `144.15K`, `$1,234.50`, `12.3 USD`. Undefined if it is
 * not a number, or ambiguous.
 */
export function readPrice(text: string, mark: DecimalMark | undefined): ReadPrice | 'missing' | undefined {
  if (mark !== 'comma' && PLAIN.test(text)) return priceOf(parseNumber(text));
  if (isMissing(text)) return 'missing';
  if (text.length > CHARS_MAX) return undefined;
  const { amount, currency } = splitCurrency(text);
  return priceOf(readNumber(amount, mark), currency);
}

function priceOf(number: number | undefined, currency?: string): ReadPrice | undefined {
  if (number === undefined) return undefined;
  const value = roundPrice(number);
  if (!Number.isFinite(value)) return undefined;
  return currency === undefined ? { value } : { value, currency };
}

function readNumber(text: string, mark: DecimalMark | undefined): number | undefined {
  const body = bodyOf(text);
  if (!body) return mark === 'comma' ? undefined : parseNumber(text); // such as 1.5e-3
  const { sign, digits, power } = body;
  if (mark === undefined && AMBIGUOUS.test(digits)) return undefined;
  const grouped = mark === 'comma' ? COMMA_GROUPED : POINT_GROUPED;
  const ungrouped = grouped.test(digits) ? digits.replaceAll(mark === 'comma' ? '.' : ',', '') : digits;
  const plain = mark === 'comma' ? decimalPoint(ungrouped) : ungrouped;
  return plain === undefined ? undefined : parseNumber(`${sign}${plain}${power}`);
}

/** The number without its currency: `-$5` is `-5` in `$`. */
function splitCurrency(text: string): { amount: string; currency?: string } {
  const negative = NEGATIVE.exec(text);
  if (negative) {
    const { amount, currency } = splitCurrency(negative[1]!);
    return currency === undefined || /^[+\-−]/.test(amount)
      ? { amount: text }
      : { amount: `-${amount}`, currency };
  }
  const before = BEFORE.exec(text);
  if (before) return { amount: `${before[1]}${before[3]}`, currency: before[2]!.toUpperCase() };
  const after = AFTER.exec(text);
  return after ? { amount: after[1]!, currency: after[2]!.toUpperCase() } : { amount: text };
}

/** A sign, digits with marks, and a power of ten such as K. Spaces and apostrophes between digits are dropped. */
function bodyOf(text: string): { sign: string; digits: string; power: string } | undefined {
  const match = /^([+\-−]?)\s*([\d.,]+(?:[ '’\u00a0\u202f]\d{3}\b[\d.,]*)*)\s?([kmb]?)$/i.exec(text);
  if (!match) return undefined;
  return {
    sign: match[1] === '−' ? '-' : match[1]!,
    digits: match[2]!.replace(/[ '’\u00a0\u202f]/g, ''),
    power: POWERS[match[3]!.toLowerCase()] ?? '',
  };
}

/** `12,5` as `12.5`. Undefined if the text also has a point. */
function decimalPoint(digits: string): string | undefined {
  return digits.includes('.') ? undefined : digits.replace(',', '.');
}
