import type { Secrets } from '../provider.ts';

/** What stands where a secret was. */
const HIDDEN = '***';

/** The same text without any secret, as it is or as it stands in a URL. For everything that is logged or kept. */
export function withoutSecrets(text: string, secrets: Secrets): string {
  let clean = text;
  for (const secret of Object.values(secrets)) {
    if (!secret) continue;
    for (const form of new Set([
      secret,
      encodeURIComponent(secret),
      new URLSearchParams([['', secret]]).toString().slice(1),
    ])) {
      clean = clean.replaceAll(form, HIDDEN);
    }
  }
  return clean;
}

/** A name for a URL that holds no secret: a new API key is no new URL. */
export function urlHash(url: string, secrets: Secrets): string {
  return new Bun.CryptoHasher('sha256').update(withoutSecrets(url, secrets)).digest('hex');
}
