import type { IncomingRequest } from '../../http/message/incoming-request.ts';
import { isLocalRequest } from '../access/local-request.ts';

/** The keys that the service may give to the page by itself. */
export interface PageKeys {
  /** The key of the demo account, in a demo. */
  demoKey: string | undefined;
  /** The key of the public plan, if the operator has set one. */
  publicKey: string | undefined;
}

/**
 * Which key the page gets without asking the person. The public one is for everybody. The demo key is for a page that
 * this machine's browser has open on this machine, and only while every price is simulated: a proxy that hides itself
 * then gives away made-up prices at most. From the first real price on, the link that `openpit serve` prints brings the
 * key, in its fragment, which browsers send to no server.
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

/** A browser says so when the page that asks is the service's own. */
function isOwnBrowser(request: IncomingRequest, peer: string): boolean {
  return isLocalRequest(request, peer) && request.headers.get('sec-fetch-site') === 'same-origin';
}
