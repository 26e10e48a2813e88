import type { Provider } from '../provider.ts';
import { ecb } from './ecb.ts';
import { eia } from './eia.ts';
import { fred } from './fred.ts';
import { imf } from './imf.ts';
import { lbma } from './lbma.ts';
import { stooq } from './stooq.ts';
import { worldBank } from './world-bank.ts';
import { yahoo } from './yahoo.ts';

/**
 * All providers, original publishers first. If several enabled providers map a series to the same symbol, the first one fills
 * it: two series of one symbol would correct each other forever.
 */
export const PROVIDERS: readonly Provider[] = [eia, worldBank, imf, fred, ecb, lbma, yahoo, stooq];

export function providerOf(key: string): Provider | undefined {
  return PROVIDERS.find((provider) => provider.key === key);
}
