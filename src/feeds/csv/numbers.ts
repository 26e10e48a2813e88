import { parseNumber } from '../../market/decimal.ts';
import { isMissing } from '../formats/cell.ts';

export type DecimalMark = 'point' | 'comma';

/** A price, and the currency that its text names, if it does: `$`, `€`, `USD`. */
export interface ReadPrice {
  value: number;
  currency?: string;
}

const PLAIN = /^[+-]?\d+(\.\d+)?$/;
const POINT_GROUPED = /^[1-9]\d{0,2}(,\d{3})+(\.\d*)?$/;
const COMMA_GROUPED = /^[1-9]\d{0,2}(\.\d{3})+(,\d*)?$/;
/** `1,234`: a thousand and more, or one and a bit. */
const EITHER = /^[1-9]\d{0,2}[.,]\d{3}$/;
const POWERS: Readonly<Record<string, string>> = { k: 'e3', m: 'e6', b: 'e9' };

const SIGN = String.raw`US\$|[$€£¥¢]`;
const BEFORE = new RegExp(String.raw`^([+\-−]?)\s*(${SIGN}|[A-Z]{3})\s*([+\-−]?\s*[\d.,].*)$`, 'i');
const AFTER = new RegExp(String.raw`^(.*[\d.,])\s*(${SIGN}|[A-Z]{3})$`, 'i');
/** `($36.98)`: how a spreadsheet shows a negative amount. */
const NEGATIVE = new RegExp(String.raw`^\(\s*((?:${SIGN}).*|.*(?:${SIGN}))\)$`);

/** No price has more; what is longer is not looked at. */
const CHARS_MAX = 64;

/** What a sign may stand for. */
const CURRENCIES: Readonly<Record<string, readonly string[]>> = {
  $: ['USD', 'AUD', 'CAD', 'HKD', 'MXN', 'NZD', 'SGD'],
  US$: ['USD'],
  '€': ['EUR'],
  '£': ['GBP'],
  '¥': ['JPY', 'CNY'],
  '¢': ['USX'],
};

/** Whether a sign or code that stands beside a price can mean a currency. */
export function isCurrency(sign: string, code: string): boolean {
  return sign === code || (CURRENCIES[sign]?.includes(code) ?? false);
}

/** Whether a price can be read in two ways, depending on how its file writes decimals. */
export function needsDecimalMark(text: string): boolean {
  return text.includes(',');
}

/** Finds whether a file writes 1.5 as `1.5` or as `1,5`. A file that has both is rejected. */
export class DecimalMarkFinder {
  readonly #delimiter: string;
  #comma: string | undefined;
  #point: string | undefined;
  #either = false;

  constructor(delimiter: string) {
    this.#delimiter = delimiter;
  }

  see(text: string): void {
    if (PLAIN.test(text) && (this.#point !== undefined || !text.includes('.'))) return;
    if (text.length > CHARS_MAX) return;
    const body = bodyOf(splitCurrency(text).amount)?.digits ?? '';
    if (EITHER.test(body)) this.#either ||= body.includes(',');
    else if (POINT_GROUPED.test(body) || /^\d*\.\d+$/.test(body)) this.#point ??= text;
    else if (COMMA_GROUPED.test(body) || /^\d*,\d+$/.test(body)) this.#comma ??= text;
    if (this.#comma !== undefined && this.#point !== undefined)
      throw new Error(
        `"${this.#comma}" has a decimal comma and "${this.#point}" a decimal point; use --decimal comma or point`,
      );
  }

  /** Undefined when the file has commas in numbers and none of them tells. */
  get mark(): DecimalMark | undefined {
    if (this.#comma !== undefined) return 'comma';
    // Where commas separate columns, one inside a number was put there on purpose, in quotes: it groups thousands.
    return this.#point !== undefined || !this.#either || this.#delimiter !== ';' ? 'point' : undefined;
  }
}

/**
 * A price as people write it: `1,234.5`, `1 234,5`, `−37.63`, `144.15K`, `$1,234.50`, `12.3 USD`. Undefined when it is
 * not a number, or can be read in two ways.
 */
export function readPrice(text: string, mark: DecimalMark | undefined): ReadPrice | 'missing' | undefined {
  if (mark !== 'comma' && PLAIN.test(text)) return priceOf(parseNumber(text));
  if (isMissing(text)) return 'missing';
  if (text.length > CHARS_MAX) return undefined;
  const { amount, currency } = splitCurrency(text);
  return priceOf(readNumber(amount, mark), currency);
}

function priceOf(value: number | undefined, currency?: string): ReadPrice | undefined {
  if (value === undefined) return undefined;
  return currency === undefined ? { value } : { value, currency };
}

function readNumber(text: string, mark: DecimalMark | undefined): number | undefined {
  const body = bodyOf(text);
  if (!body) return mark === 'comma' ? undefined : parseNumber(text); // such as 1.5e-3
  const { sign, digits, power } = body;
  if (mark === undefined && EITHER.test(digits)) return undefined;
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
