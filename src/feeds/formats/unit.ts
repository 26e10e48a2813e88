/** What a series is quoted in: `USD` per `Bbl`. */
export interface PriceUnit {
  currency: string;
  unit: string;
}

const CURRENCIES: readonly [RegExp, string][] = [
  [/^(u\.?s\.? ?)?(cents?|¢)$|^usx$/, 'USX'],
  [/^(u\.?s\.? ?)?(\$|dollars?)$|^usd$/, 'USD'],
  [/^(€|euros?|eur)$/, 'EUR'],
];

/** How providers write the catalogue's units. A series in any other unit is rejected. */
const UNITS: Readonly<Record<string, readonly string[]>> = {
  Bbl: ['bbl', 'barrel', 'barrels'],
  MMBtu: [
    'mmbtu',
    'million btu',
    'mil. btu',
    'million british thermal units',
    'million metric british thermal unit',
  ],
  MT: ['mt', 'metric ton', 'metric tons', 'metric tonne', 'tonne'],
  DMT: ['dmt', 'dry metric ton'],
  Kg: ['kg', 'kilogram', 'kilo'],
  Lb: ['lb', 'pound', 'pounds'],
  'T.oz': ['troy oz', 'toz', 'troy ounce', 'oz t'],
  m3: ['cubic meter', 'cubic metre', 'cubic meters', 'cum', 'm3'],
  Sheet: ['sheet', 'sheets'],
  Gal: ['gal', 'gallon', 'gallons'],
};
const unitOfName = new Map(
  Object.entries(UNITS).flatMap(([unit, names]) => names.map((name) => [name, unit])),
);

/** Parses a label such as `($/bbl)`, `$/MMBTU`, `Dollars per Barrel` or `U.S. Cents per Pound`; undefined for anything else. */
export function readPriceUnit(label: string): PriceUnit | undefined {
  const plain = label
    .toLowerCase()
    .replace(/[()\s]+/g, ' ')
    .trim();
  const [money, amount, ...more] = plain.split(/\s*\/\s*|\s+per\s+/);
  if (money === undefined || amount === undefined || more.length > 0) return undefined;
  const currency = CURRENCIES.find(([pattern]) => pattern.test(money))?.[1];
  const unit = unitOfName.get(amount);
  return currency && unit ? { currency, unit } : undefined;
}
