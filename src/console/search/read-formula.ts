import { isFormula, OPERAND } from '../data/formula.ts';

const NUMBER = /^\d+(\.\d+)?$/;

/**
 * Reads what people write for a formula: with the braces of the interface, or without them, as in `XAU/XAG` or
 * `BRENT - WTI`. A code may hold a hyphen, so a minus without braces needs blanks around it.
 */
export function readFormula(text: string, codeOf: (text: string) => string | undefined): string | undefined {
  const upper = text.toUpperCase().trim();
  if (isFormula(upper)) {
    const codes = [...upper.matchAll(OPERAND)].map(([, code]) => codeOf(code!.trim()));
    if (codes.length === 0 || codes.includes(undefined)) return undefined;
    let next = 0;
    return upper.replaceAll(OPERAND, () => `{${codes[next++]}}`).replaceAll(/\s/g, '');
  }
  const parts = upper.split(/(\s-\s|[+*/()])/).map((part) => part.trim());
  const written = parts.map((part) => {
    if (part === '' || /^[-+*/()]$/.test(part) || NUMBER.test(part)) return part;
    const code = codeOf(part);
    return code && `{${code}}`;
  });
  if (written.includes(undefined)) return undefined;
  const formula = written.join('');
  return isFormula(formula) && /[-+*/]/.test(formula.replaceAll(OPERAND, '')) ? formula : undefined;
}
