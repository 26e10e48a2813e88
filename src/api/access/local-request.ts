import { isLoopback } from '../../gate/addresses.ts';
import type { IncomingRequest } from '../../http/message/incoming-request.ts';

/** Headers that proxies add. Programs on this machine do not send them. */
const FORWARDING_HEADERS = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-forwarded-server',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
  'fastly-client-ip',
  'cdn-loop',
];

/**
 * Whether a request comes from this machine: from a loopback address, for a loopback name (so not by DNS rebinding), and
 * without a sign of a proxy. A proxy on this machine that adds nothing and rewrites `Host` cannot be told apart, so
 * nothing that matters may depend on this alone.
 */
export function isLocalRequest({ headers }: IncomingRequest, peer: string): boolean {
  const host = /^(\[[^\]]+\]|[^:]+)(:\d+)?$/.exec(headers.get('host') ?? '')?.[1] ?? '';
  return (
    isLoopback(peer) &&
    (host.toLowerCase() === 'localhost' || isLoopback(host)) &&
    !FORWARDING_HEADERS.some((name) => headers.has(name))
  );
}
