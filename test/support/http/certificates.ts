import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

/** A self-signed certificate for localhost, 127.0.0.1 and 127.0.0.2, made without OpenSSL's program. */
export interface TestCertificate {
  cert: string;
  key: string;
}

const DAY_MS = 86_400_000;

export interface TestCertificateOptions {
  commonName?: string;
  validFrom?: number;
  validTo?: number;
  type?: 'ec' | 'rsa';
}

export function makeCertificate({
  commonName = 'openpit test',
  validFrom = Date.now() - DAY_MS,
  validTo = Date.now() + 90 * DAY_MS,
  type = 'ec',
}: TestCertificateOptions = {}): TestCertificate {
  const { publicKey, privateKey } =
    type === 'ec'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : generateKeyPairSync('rsa', { modulusLength: 2048 });
  const algorithm = type === 'ec' ? ECDSA_SHA256 : RSA_SHA256;
  const name = sequence(set(sequence(COMMON_NAME, utf8(commonName))));
  const toSign = sequence(
    tagged(0xa0, integer(Buffer.of(2))), // version 3
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(validFrom), time(validTo)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(BASIC_CONSTRAINTS_CA, ALT_NAMES)),
  );
  const certificate = sequence(toSign, algorithm, bits(sign(privateKey, toSign)));
  return {
    cert: pem('CERTIFICATE', certificate),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function sign(key: KeyObject, bytes: Buffer): Buffer {
  return createSign('SHA256').update(bytes).sign(key);
}

function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** DER: tag, length, value. */
function tagged(tag: number, ...parts: readonly Buffer[]): Buffer {
  const value = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag, ...lengthOf(value.length)), value]);
}

function lengthOf(length: number): number[] {
  if (length < 128) return [length];
  return length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tagged(0x30, ...parts);
}

function set(...parts: readonly Buffer[]): Buffer {
  return tagged(0x31, ...parts);
}

function integer(bytes: Buffer): Buffer {
  return tagged(0x02, bytes);
}

function bits(bytes: Buffer): Buffer {
  return tagged(0x03, Buffer.of(0), bytes);
}

function octets(bytes: Buffer): Buffer {
  return tagged(0x04, bytes);
}

function utf8(text: string): Buffer {
  return tagged(0x0c, Buffer.from(text));
}

/** GeneralizedTime, YYYYMMDDHHMMSSZ. */
function time(ms: number): Buffer {
  return tagged(0x18, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`));
}

function identifier(hex: string): Buffer {
  return tagged(0x06, Buffer.from(hex, 'hex'));
}

const COMMON_NAME = identifier('550403');
const ECDSA_SHA256 = sequence(identifier('2a8648ce3d040302'));
const RSA_SHA256 = sequence(identifier('2a864886f70d01010b'), tagged(0x05));
const BASIC_CONSTRAINTS_CA = sequence(
  identifier('551d13'),
  tagged(0x01, Buffer.of(0xff)),
  octets(sequence(tagged(0x01, Buffer.of(0xff)))),
);
const ALT_NAMES = sequence(
  identifier('551d11'),
  octets(
    sequence(
      tagged(0x82, Buffer.from('localhost')),
      tagged(0x87, Buffer.of(127, 0, 0, 1)),
      tagged(0x87, Buffer.of(127, 0, 0, 2)),
    ),
  ),
);
