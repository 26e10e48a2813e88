import type { Secrets } from '../provider.ts';

/** Replaces a secret. */
const HIDDEN = '***';

/** Removes secrets, plain or URL-encoded. Apply to everything that is logged or stored. */
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

/** Identifies a URL without its secrets: a new API key does not change it. */
export function urlHash(url: string, secrets: Secrets): string {
  return new Bun.CryptoHasher('sha256').update(withoutSecrets(url, secrets)).digest('hex');
}
