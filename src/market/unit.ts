import { ONE, over, type Ratio, ratioOf, times } from './ratio.ts';
import type { SymbolRecord } from './symbol.ts';

type Dimension = 'mass' | 'contained mass' | 'volume' | 'energy' | 'count' | 'time';

interface Unit {
  dimension: Dimension;
  /** In the base of its dimension: kilogram, litre, gigajoule, piece, day. Exact. */
  size: number;
  /** Other spellings; lower case, without blanks, dots and dashes. */
  spellings: readonly string[];
}

/** The units of the catalogue and a few more, under the symbols that the catalogue uses. */
const UNITS: Readonly<Record<string, Unit>> = {
  Kg: { dimension: 'mass', size: 1, spellings: ['kgs', 'kilo', 'kilos', 'kilogram', 'kilograms'] },
  g: { dimension: 'mass', size: 0.001, spellings: ['gr', 'gram', 'grams', 'gramme', 'grammes'] },
  MT: {
    dimension: 'mass',
    size: 1000,
    spellings: ['t', 'tonne', 'tonnes', 'metricton', 'metrictons', 'metrictonne', 'metrictonnes'],
  },
  DMT: { dimension: 'mass', size: 1000, spellings: ['drymetricton', 'drymetrictons'] },
  // Sizes of contracts. Chinese eggs and European potatoes are quoted for them.
  '100 MT': { dimension: 'mass', size: 100_000, spellings: ['100tonnes', '100t'] },
  '500 Kg': { dimension: 'mass', size: 500, spellings: ['500kilograms'] },
  '100 Kg': { dimension: 'mass', size: 100, spellings: ['100kilograms', 'quintal'] },
  Lb: { dimension: 'mass', size: 0.45359237, spellings: ['lbs', 'pound', 'pounds'] },
  'T.oz': {
    dimension: 'mass',
    size: 0.0311034768,
    spellings: ['oz', 'ozt', 'ounce', 'ounces', 'troyoz', 'troyounce', 'troyounces'],
  },
  Cwt: { dimension: 'mass', size: 45.359237, spellings: ['hundredweight', 'hundredweights'] },
  ST: { dimension: 'mass', size: 907.18474, spellings: ['shortton', 'shorttons'] },
  LT: { dimension: 'mass', size: 1016.0469088, spellings: ['longton', 'longtons'] },
  // 1 % of a metric ton: 10 kg of the oxide that an ore or a salt contains, not of the material itself.
  MTU: { dimension: 'contained mass', size: 10, spellings: ['metrictonunit', 'metrictonunits'] },
  L: { dimension: 'volume', size: 1, spellings: ['litre', 'litres', 'liter', 'liters', 'ltr'] },
  Gal: { dimension: 'volume', size: 3.785411784, spellings: ['gallon', 'gallons', 'usgal'] },
  Bbl: { dimension: 'volume', size: 158.987294928, spellings: ['bbls', 'barrel', 'barrels'] }, // 42 gallons
  m3: {
    dimension: 'volume',
    size: 1000,
    spellings: ['m³', 'cbm', 'cubicmeter', 'cubicmeters', 'cubicmetre', 'cubicmetres'],
  },
  // A board foot is 144 cubic inches.
  MBF: { dimension: 'volume', size: 2359.737216, spellings: ['thousandboardfeet', '1000boardfeet'] },
  GJ: { dimension: 'energy', size: 1, spellings: ['gigajoule', 'gigajoules'] },
  MWh: { dimension: 'energy', size: 3.6, spellings: ['megawatthour', 'megawatthours'] },
  kWh: { dimension: 'energy', size: 0.0036, spellings: ['kilowatthour', 'kilowatthours'] },
  MMBtu: {
    dimension: 'energy',
    size: 1.05505585262,
    spellings: ['millionbtu', 'millionbritishthermalunits'],
  },
  Thm: { dimension: 'energy', size: 0.105505585262, spellings: ['therm', 'therms'] },
  Doz: { dimension: 'count', size: 12, spellings: ['dozen', 'dozens'] },
  Sheet: { dimension: 'count', size: 1, spellings: ['sheets'] },
  // Freight is the hire of a ship for a day.
  Day: { dimension: 'time', size: 1, spellings: ['days'] },
  Pc: { dimension: 'count', size: 1, spellings: ['piece', 'pieces', 'each', 'unit'] },
};

/** A bushel is a mass that depends on the crop. */
const BUSHEL = 'Bu';
const BUSHEL_SPELLINGS: readonly string[] = ['bu', 'bushel', 'bushels'];
const BUSHEL_POUNDS: Readonly<Record<string, number>> = {
  corn: 56,
  maize: 56,
  sorghum: 56,
  rye: 56,
  flax: 56,
  flaxseed: 56,
  wheat: 60,
  soybean: 60,
  soybeans: 60,
  barley: 48,
  canola: 50,
  oat: 32,
  oats: 32,
};
const CANADIAN_OAT_POUNDS = 34;
/** Products of a crop are not measured in bushels. */
const PRODUCTS = new Set(['oil', 'meal', 'flour', 'syrup', 'starch', 'bran', 'hulls']);

const SYMBOL_OF = new Map(
  Object.entries(UNITS).flatMap(([symbol, { spellings }]) =>
    [symbol, ...spellings].map((spelling) => [plain(spelling), symbol] as const),
  ),
);

/** Units of one kind of goods, and sizes of contracts. They fit other goods of their dimension, whose prices nobody gives in them. */
const PARTICULAR = new Set(['DMT', '100 MT', '500 Kg', '100 Kg', 'MBF', 'Sheet']);
/** Timber is a volume, but no liquid. */
const TIMBER = 'MBF';
const LIQUIDS = new Set(['L', 'Gal', 'Bbl']);

type Measured = Pick<SymbolRecord, 'name' | 'unit'>;

/** The symbols of all units that prices can be converted to. */
export const UNIT_SYMBOLS: readonly string[] = [...Object.keys(UNITS), BUSHEL];

/** The catalogue's symbol for any spelling of a unit; undefined when it is unknown. */
export function unitNamed(text: string): string | undefined {
  const name = plain(text);
  return BUSHEL_SPELLINGS.includes(name) ? BUSHEL : SYMBOL_OF.get(name);
}

/**
 * The factor that converts a price of the symbol to a price per `target`; undefined when the units are not convertible. A
 * barrel is not convertible to a mass without a density.
 */
export function unitFactor(symbol: Measured, target: string): Ratio | undefined {
  const own = unitNamed(symbol.unit.symbol);
  if (target === (own ?? symbol.unit.symbol)) return ONE;
  const [from, to] = [own && sizeIn(symbol, own), sizeIn(symbol, target)];
  return from && to && from.dimension === to.dimension ? over(to.size, from.size) : undefined;
}

/** The units that are usual for a symbol's price, its own first. `unitFactor` converts to more. */
export function unitsFor(symbol: Measured): string[] {
  const own = unitNamed(symbol.unit.symbol) ?? symbol.unit.symbol;
  const isUsual = (unit: string) => !PARTICULAR.has(unit) && !(own === TIMBER && LIQUIDS.has(unit));
  const others = UNIT_SYMBOLS.filter((unit) => unit !== own && isUsual(unit));
  return [own, ...others.filter((unit) => unitFactor(symbol, unit) !== undefined)];
}

function sizeIn(symbol: Measured, unit: string): { dimension: Dimension; size: Ratio } | undefined {
  if (unit === BUSHEL) {
    const pounds = bushelPounds(symbol.name);
    return pounds === undefined
      ? undefined
      : { dimension: 'mass', size: times(ratioOf(pounds), ratioOf(UNITS.Lb!.size)) };
  }
  const known = UNITS[unit];
  return known && { dimension: known.dimension, size: ratioOf(known.size) };
}

function bushelPounds(name: string): number | undefined {
  const words = name.toLowerCase().split(/[^a-z]+/);
  if (words.some((word) => PRODUCTS.has(word))) return undefined;
  const crop = words.find((word) => Object.hasOwn(BUSHEL_POUNDS, word));
  if (crop === undefined) return undefined;
  const canadian = words.includes('canada') || words.includes('canadian');
  return canadian && crop.startsWith('oat') ? CANADIAN_OAT_POUNDS : BUSHEL_POUNDS[crop];
}

function plain(text: string): string {
  return text.toLowerCase().replace(/[\s._-]+/g, '');
}
