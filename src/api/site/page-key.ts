import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { isLocalRequest } from '../access/local-request.ts';

/** Keys that the console may receive without the user entering one. */
export interface PageKeys {
  /** The demo account's key, in demo mode. */
  demoKey: string | undefined;
  /** The public plan's key, if the operator has configured one. */
  publicKey: string | undefined;
}

/**
 * The key that the console receives automatically. The public key is for everybody. The demo key is only for a browser on
 * this machine, and only while all prices are simulated, so a proxy that hides itself exposes nothing but made-up prices.
 * Once there is a real price, the key comes from the link that `openpit serve` prints, in its fragment, which browsers
 * never send to a server.
 */
export function keyForPage(
  { demoKey, publicKey }: PageKeys,
  allSimulated: boolean,
  request: IncomingRequest,
  peer: string,
) {
  if (publicKey !== undefined) return { kind: 'public', key: publicKey } as const;
  if (demoKey === undefined || !allSimulated || !isOwnBrowser(request, peer)) return undefined;
  return { kind: 'demo', key: demoKey } as const;
}

/** Browsers send `same-origin` when the request comes from the service's own page. */
function isOwnBrowser(request: IncomingRequest, peer: string): boolean {
  return isLocalRequest(request, peer) && request.headers.get('sec-fetch-site') === 'same-origin';
}
