/** Currencies that are a hundredth of another. */
export const CENTS: Readonly<Record<string, string>> = { USX: 'USD' };
