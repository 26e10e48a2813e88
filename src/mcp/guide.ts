/** What a model should know before it reads answers. */
export const GUIDE = `# Reading commodity prices from Openpit

- A price is a number of a currency per a unit: \`XAU: 2345.6 USD per troy ounce (T.oz)\`. Always repeat both. A troy ounce is
  31.1034768 g; a metric ton (MT) is 1,000 kg; a barrel (Bbl) is 42 US gallons.
- \`source: simulated\` means that the price was invented for a demonstration. Never present it as real.
- Codes ending in \`-FUT\` are futures, \`-SPOT\` is the spot market, \`-AVG\` a monthly average. \`find_symbols\` finds codes by name.
- A day is a trading day of the symbol's market. A question about a day without a price is answered with the last day before it
  that has one, and the answer names that day. A monthly price belongs to the first of its month.
- The plan of the API key may delay prices; the time of each price is in the answer. \`STALE\` means that a newer price is overdue.
- A negative price is possible: WTI crude oil closed at −36.98 USD on 2020-04-20.
- Formulas take codes in braces: \`{BRENTOIL-FUT}-{WTIOIL-FUT}\`. They use the numbers as they are: convert units yourself, for
  example \`{RB-FUT}*42\` from USD per gallon to USD per barrel.
- Every call costs one unit of the monthly quota, a comparison two, and a long series one per 2,000 rows. \`usage\` is free, and so
  are errors, except for a formula without a value and a series that exceeds the remaining quota.
- Do not call a tool again for data that you have already received in this conversation, unless the question is about now.
`;
