import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';

/** A certificate chain with its private key, both PEM, which belong together. */
export interface Credentials {
  readonly cert: string;
  readonly key: string;
  /** The validity of the server's own certificate, in ms since the epoch. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** Why a certificate or a key cannot be used. The message says so in one line, without naming a file. */
export class CredentialsError extends Error {
  readonly part: 'cert' | 'key';

  constructor(part: 'cert' | 'key', message: string) {
    super(message);
    this.part = part;
  }
}

/** Checks that a certificate and a key can be used together. The server's own certificate is the first of its chain. */
export function parseCredentials(cert: string, key: string): Credentials {
  const certificate = parseChain(cert);
  if (!certificate.checkPrivateKey(parseKey(key))) {
    throw new CredentialsError('key', 'the private key does not belong to the (first) certificate');
  }
  return {
    cert,
    key,
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The first certificate of a chain, after all of them were read. */
function parseChain(pem: string): X509Certificate {
  const texts = pem.match(CERTIFICATE) ?? [];
  if (texts.length === 0) throw new CredentialsError('cert', 'it contains no certificate in PEM format');
  const chain = texts.map((text, i) => {
    try {
      return new X509Certificate(text);
    } catch {
      throw new CredentialsError('cert', `certificate ${i + 1} of ${texts.length} cannot be read`);
    }
  });
  return chain[0]!;
}

function parseKey(pem: string): KeyObject {
  if (!/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(pem)) {
    throw new CredentialsError('key', 'it contains no private key in PEM format');
  }
  if (/-----BEGIN ENCRYPTED|Proc-Type: 4,ENCRYPTED/.test(pem)) {
    throw new CredentialsError('key', 'the private key is protected by a passphrase; store it without one');
  }
  try {
    return createPrivateKey(pem);
  } catch {
    throw new CredentialsError('key', 'the private key cannot be read');
  }
}
