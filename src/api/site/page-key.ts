import { isLoopback } from '../../gate/addresses.ts';
import type { Incoming } from '../../http/incoming.ts';

/** The keys that the service may give to the page by itself. */
export interface PageKeys {
  /** The key of the demo account, while prices are simulated. */
  demoKey: string | undefined;
  /** The key of the public plan, if the operator has set one. */
  publicKey: string | undefined;
}

/**
 * Which key the page gets without asking the person. The public one is for everybody. The demo key is only for a page
 * that this machine's own browser has open on this machine: not through a proxy, not for another site's script, and not
 * for a name that was made to point here (DNS rebinding). So a demo that listens on all addresses gives nothing away.
 */
export function keyForPage({ demoKey, publicKey }: PageKeys, request: Incoming, peer: string) {
  if (publicKey !== undefined) return { kind: 'public', key: publicKey } as const;
  if (demoKey === undefined || !isOwnBrowser(request, peer)) return undefined;
  return { kind: 'demo', key: demoKey } as const;
}

function isOwnBrowser({ headers }: Incoming, peer: string): boolean {
  const host = /^(\[[^\]]+\]|[^:]+)(:\d+)?$/.exec(headers.get('host') ?? '')?.[1] ?? '';
  return (
    isLoopback(peer) &&
    !headers.has('x-forwarded-for') &&
    !headers.has('forwarded') &&
    headers.get('sec-fetch-site') === 'same-origin' &&
    (host === 'localhost' || isLoopback(host.replace(/^\[|\]$/g, '')))
  );
}
