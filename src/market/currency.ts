/** Currencies that are a hundredth of another. */
export const CENTS: Readonly<Record<string, string>> = { USX: 'USD' };

/** Codes of ISO 4217 that stand for no currency: none, and one for tests. */
const NO_CURRENCIES = new Set(['XXX', 'XTS']);

/** The currencies of ISO 4217, former ones included. */
export const ISO_CURRENCIES: readonly string[] = Intl.supportedValuesOf('currency').filter(
  (code) => !NO_CURRENCIES.has(code),
);
