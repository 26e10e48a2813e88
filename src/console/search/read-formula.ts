import { isFormula, OPERAND } from '../data/formula.ts';

/** Symbols in braces, and what stands between names and numbers. */
const PARTS = /(\{[^{}]*\}|[+*/()])/;
const OPERATOR = /^[+*/()]$/;
const NUMBER = /^\d+(\.\d+)?$/;
const NUMBERS = /\d+(\.\d+)?/g;

/**
 * Reads what people write for a formula: with the braces of the interface, or without them, as in `XAU/XAG` or
 * `BRENT-WTI`. Undefined if it names no symbol or no operation, or is incomplete.
 */
export function readFormula(text: string, codeOf: (text: string) => string | undefined): string | undefined {
  const inBraces = (name: string) => {
    const code = codeOf(name);
    return code && `{${code}}`;
  };
  const written = text
    .toUpperCase()
    .split(PARTS)
    .map((part) => {
      if (OPERATOR.test(part)) return part;
      return part.startsWith('{') ? inBraces(part.slice(1, -1).trim()) : readNames(part, inBraces);
    });
  if (written.includes(undefined)) return undefined;
  const formula = written.join('');
  return isFormula(formula) && !/^\{[^}]*\}$/.test(formula) && isComplete(formula) ? formula : undefined;
}

/** Reads names and numbers with hyphens between them. A hyphen is part of the longest known name, or a minus. */
function readNames(text: string, inBraces: (name: string) => string | undefined): string | undefined {
  const pieces = text.split('-');
  const read: string[] = [];
  for (let start = 0; start < pieces.length; ) {
    let end = pieces.length;
    let found: string | undefined;
    for (; end > start; end--) {
      const name = pieces.slice(start, end).join('-').trim();
      found = name === '' || NUMBER.test(name) ? name : inBraces(name);
      if (found !== undefined) break;
    }
    if (found === undefined) return undefined;
    read.push(found);
    start = end;
  }
  return read.join('-');
}

/** Whether all operators have their operands, and parentheses are closed: whether it can be reduced to one value. */
function isComplete(formula: string): boolean {
  let reduced = formula.replaceAll(OPERAND, 'x').replaceAll(NUMBERS, 'x');
  for (let before = ''; before !== reduced; ) {
    before = reduced;
    reduced = reduced.replace(/\(x\)|x[-+*/]x|(?<![x)])-x/, 'x');
  }
  return reduced === 'x';
}
