/// <reference path="./zst.d.ts" />
import type { Archive } from '../fetch/fetch-provider.ts';
import type { BodyKind } from '../formats/body.ts';
import type { Observation, Provider } from '../provider.ts';
import editions from './editions.json';
import ecbFile from './files/ecb.csv.zst' with { type: 'file' };
import eiaFile from './files/eia.zip.zst' with { type: 'file' };
import worldBankFile from './files/world-bank.xlsx.zst' with { type: 'file' };

/** What the bundle has of one provider. Written by `scripts/bundle.ts`. */
export interface Edition {
  /** The key of the provider. */
  provider: string;
  /** When the provider published it, or its newest day. */
  edition: string;
  series: number;
  observations: number;
  first: string;
  last: string;
  /** Compressed. */
  bytes: number;
}

/** Real history that is part of the program, for each provider in its own format. */
export const EDITIONS: readonly Edition[] = editions;

const FILES: Readonly<Record<string, { path: string; kind: BodyKind }>> = {
  eia: { path: eiaFile, kind: 'zip' },
  'world-bank': { path: worldBankFile, kind: 'xlsx' },
  ecb: { path: ecbFile, kind: 'csv' },
};

/** The provider, with the bundled body as its only request, and the archive that answers it. */
export function bundledProvider(
  provider: Provider,
  { edition }: Edition,
): { provider: Provider; archive: Archive } {
  const { path, kind } = FILES[provider.key]!;
  const request = { url: `bundle://${provider.key}/`, body: kind };
  return {
    provider: { ...provider, requiredSettings: [], requests: () => [request] },
    archive: { edition, read: async () => Bun.zstdDecompressSync(await Bun.file(path).bytes()) },
  };
}

/** All bundled prices of a provider. */
export async function bundledObservations(
  provider: Provider,
  edition: Edition,
): Promise<readonly Observation[]> {
  const bundled = bundledProvider(provider, edition);
  const [request] = bundled.provider.requests({});
  return provider.parse(await bundled.archive.read(request!), request!).observations;
}
