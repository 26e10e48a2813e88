import type { Ledger } from '../ledger/ledger.ts';
import type { Day } from '../market/day.ts';
import { lackingSettings, type Provider, type Secrets } from './provider.ts';

/** A symbol with real prices. */
export interface RealSymbol {
  code: string;
  /** Where its newest price is from. */
  source: string;
  newest: Day;
}

/** Symbols without real prices, and how to get them. */
export interface MissingSupply {
  symbols: string[];
  /** What would supply them: the feed with this key, or a file or a stream of the operator's own. */
  feed: string | undefined;
  how: 'key' | 'licence' | 'enable' | 'failing' | 'own';
  /** Settings that the feed requires. */
  lacking: readonly string[];
}

export interface Supply {
  real: RealSymbol[];
  missing: MissingSupply[];
}

/** Whether anybody may enable a feed without further steps: it needs no key, and its prices may be redistributed. */
export function isFree(provider: Provider, secrets: Secrets): boolean {
  return provider.licence.redistribution !== 'no' && lackingSettings(provider, secrets).length === 0;
}

/** Which symbols have real prices, and what would supply the others. */
export async function supplyOf(
  ledger: Ledger,
  providers: readonly Provider[],
  secrets: Secrets,
): Promise<Supply> {
  const enabled = await ledger.feeds.enabled();
  const sources = await ledger.sources.names();
  const real: RealSymbol[] = [];
  const missing = new Map<string, MissingSupply>();
  for (const { id, code, real: isReal } of await ledger.symbols.list()) {
    const newest = isReal ? await ledger.bars.lastDay(id, 'real') : undefined;
    if (newest !== undefined) {
      const [bar] = (await ledger.bars.revisions(id, 'real', newest, newest)).toReversed();
      real.push({ code, source: sources.get(bar!.sourceId) ?? '', newest });
    } else if (!isReal) {
      const supply = supplierOf(code, providers, enabled, secrets);
      missing
        .getOrInsertComputed(`${supply.how} ${supply.feed}`, () => ({ ...supply, symbols: [] }))
        .symbols.push(code);
    }
  }
  return { real, missing: [...missing.values()].sort((a, b) => ORDER.indexOf(a.how) - ORDER.indexOf(b.how)) };
}

/** What takes least effort first. */
const ORDER: readonly MissingSupply['how'][] = ['failing', 'enable', 'key', 'licence', 'own'];

function supplierOf(
  code: string,
  providers: readonly Provider[],
  enabled: ReadonlySet<string>,
  secrets: Secrets,
): Omit<MissingSupply, 'symbols'> {
  const able = providers.filter(({ series }) => series.some(({ symbol }) => symbol === code));
  const options = able.map((provider): Omit<MissingSupply, 'symbols'> => {
    const lacking = lackingSettings(provider, secrets);
    const how = enabled.has(provider.key)
      ? 'failing'
      : provider.licence.redistribution === 'no'
        ? 'licence'
        : lacking.length > 0
          ? 'key'
          : 'enable';
    return { feed: provider.key, how, lacking };
  });
  const best = options.toSorted((a, b) => ORDER.indexOf(a.how) - ORDER.indexOf(b.how))[0];
  return best ?? { feed: undefined, how: 'own', lacking: [] };
}
