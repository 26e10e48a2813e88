import { createServer } from 'node:tls';
import type { TCPSocketListener, TLSOptions } from 'bun';
import type { Credentials } from './credentials.ts';

/** Forward secrecy and authenticated encryption only. TLS 1.3 has no others. */
const TLS_1_2_CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':');

/** In the encoding of RFC 7301: the length of each name before it. A client that offers only HTTP/2 is refused. */
const ALPN_HTTP_1_1 = Buffer.from('\x08http/1.1');

/** The minimum that a TLS listener needs. `setCredentials` sets the rest. */
export function listenerTls({ cert, key }: Credentials): TLSOptions {
  return { cert, key, ALPNProtocols: ALPN_HTTP_1_1 };
}

/**
 * Makes a TLS listener use these credentials for every new handshake. Open connections keep the earlier ones.
 * `Bun.listen` has no method for this. `setSecureContext` of Node's TLS server replaces the context of the Bun listener in
 * its `_handle`, so a server that never listens borrows ours. tls-server.test.ts fails if a new version of Bun changes that.
 */
export function setCredentials(listener: TCPSocketListener<unknown>, { cert, key }: Credentials): void {
  const server = Object.assign(createServer(), { _handle: listener });
  server.setSecureContext({ cert, key, minVersion: 'TLSv1.2', ciphers: TLS_1_2_CIPHERS });
}
