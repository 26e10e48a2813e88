/** The names and signs of currencies come from the browser, which knows none for a cent. */
const NAMES = new Intl.DisplayNames('en', { type: 'currency', fallback: 'none' });

export function nameOfCurrency(code: string): string {
  if (code === 'USX') return 'US cent';
  return (isCode(code) && NAMES.of(code)) || code;
}

/** The sign before a price: "€", or the code where there is none. */
export function signOfCurrency(code: string): string {
  if (!isCode(code)) return code;
  const style = { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' } as const;
  const parts = new Intl.NumberFormat('en', style).formatToParts(0);
  return parts.find(({ type }) => type === 'currency')?.value ?? code;
}

function isCode(code: string): boolean {
  return /^[A-Z]{3}$/.test(code);
}
