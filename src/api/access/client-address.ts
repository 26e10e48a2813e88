import { AddressList, unmapped } from '../../gate/addresses.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';

/** Finds the client's address: the peer's, or the one that a trusted proxy reports. */
export class ClientAddress {
  readonly #trusted: AddressList;

  constructor(trustedProxies: readonly string[]) {
    this.#trusted = new AddressList(trustedProxies);
  }

  ofRequest({ request, peer }: { request: IncomingRequest; peer(): string }): string {
    return this.of(peer(), request.headers.get('x-forwarded-for'));
  }

  /**
   * X-Forwarded-For grows to the right, and only what trusted proxies appended can be believed. So from the right, the
   * first address that is not a trusted proxy is the client.
   */
  of(peer: string, forwardedFor: string | null): string {
    let address = unmapped(peer);
    if (!forwardedFor || !this.#trusted.has(address)) return address;
    for (const hop of forwardedFor.split(',').reverse()) {
      if (hop.trim() === '') continue;
      address = unmapped(withoutPort(hop));
      if (!this.#trusted.has(address)) break;
    }
    return address;
  }
}

/** Some proxies name the client's port too: `203.0.113.7:52100`, `[2001:db8::7]:52100`. */
function withoutPort(hop: string): string {
  const match = /^\[([^\]]+)\](:\d+)?$|^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(hop.trim());
  return match?.[1] ?? match?.[3] ?? hop;
}
