import { isAddressOrRange } from '../gate/addresses.ts';
import { LOG_LEVELS, type LogLevel } from '../runtime/log/log.ts';

/** An invalid setting. The message names it and says what it must be. */
export class ConfigError extends Error {}

/** Paths of a certificate chain and its private key, both PEM. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export function readWhole(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new ConfigError(`${name} must be a whole number from ${min} to ${max} (it is "${text}").`);
}

export function readList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** The URL of PostgreSQL or of a SQLite file; empty when none is set. */
export function readDatabaseUrl(text: string): string {
  if (/^postgres(ql)?:/.test(text)) return readPostgresUrl('OPENPIT_DATABASE_URL', text);
  if (text === '' || isSqliteUrl(text)) return text;
  throw new ConfigError('OPENPIT_DATABASE_URL must begin with postgres:// or sqlite://.');
}

export function readStandbyUrl(text: string): string | undefined {
  if (text === '') return undefined;
  if (/^postgres(ql)?:/.test(text)) return readPostgresUrl('OPENPIT_READ_URL', text);
  throw new ConfigError('OPENPIT_READ_URL must begin with postgres://.');
}

export function isPostgresUrl(text: string): boolean {
  return /^postgres(ql)?:\/\//.test(text);
}

/**
 * Without a host, each try to connect would fail as if the server were down, and a start would wait for it. A password with
 * a reserved character ends the authority early, or cannot be decoded. The message repeats nothing of it.
 */
export function readPostgresUrl(name: string, url: string): string {
  const [, authority = '', rest = ''] = /^postgres(?:ql)?:\/\/([^/?#]*)(.*)$/s.exec(url) ?? [];
  const hosts = authority.slice(authority.lastIndexOf('@') + 1).split(',');
  if (!hosts.every((host) => /^[^:\s]/.test(host.trim())))
    throw new ConfigError(
      `${name} must name the host of PostgreSQL: postgres://USER:PASSWORD@HOST:5432/DATABASE, with the host 127.0.0.1 for this machine.`,
    );
  const isCutOff = !authority.includes('@') && /^([^=]*|[/#][^?]*)@/.test(rest);
  if (!isCutOff && isEncoded(url) && hosts.every((host) => URL.canParse(`postgres://${host.trim()}`)))
    return url;
  throw new ConfigError(
    `${name} must be like postgres://USER:PASSWORD@HOST:5432/DATABASE, with reserved characters of user and password percent-encoded: % as %25, # as %23, / as %2F, ? as %3F, @ as %40.`,
  );
}

function isEncoded(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

export function isSqliteUrl(text: string): boolean {
  return /^sqlite:\/*[^/]/.test(text);
}

export function readDemo(text: string): 'auto' | 'on' | 'off' {
  if (text === '') return 'auto';
  if (/^(true|1|yes|on)$/i.test(text)) return 'on';
  if (/^(false|0|no|off)$/i.test(text)) return 'off';
  throw new ConfigError(`OPENPIT_DEMO must be true or false (it is "${text}").`);
}

export function readTls(cert: string, key: string): TlsFiles | undefined {
  if ((cert === '') !== (key === ''))
    throw new ConfigError('OPENPIT_TLS_CERT and OPENPIT_TLS_KEY must be set together.');
  return cert === '' ? undefined : Object.freeze({ cert, key });
}

export function readAddresses(name: string, entries: readonly string[]): readonly string[] {
  const wrong = entries.find((entry) => !isAddressOrRange(entry));
  if (wrong === undefined) return entries;
  throw new ConfigError(
    `${name} must be addresses and ranges such as 127.0.0.1,10.0.0.0/8 ("${wrong}" is neither).`,
  );
}

export function readUrl(name: string, text: string): string | undefined {
  if (text === '' || (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)))
    return text || undefined;
  throw new ConfigError(`${name} must be a URL such as https://example.com/hook.`);
}

/** A secret that is sent in a header, which carries ASCII. The message does not repeat it. */
export function readToken(name: string, text: string): string | undefined {
  if (/^[ -~]*$/.test(text)) return text || undefined;
  throw new ConfigError(`${name} must consist of ASCII characters; a header cannot carry others.`);
}

/** A secret that begins with `whsec_` is base64; decoding any other text would sign with a shorter key, or with none. */
export function readWebhookSecret(text: string): string | undefined {
  if (!text.startsWith('whsec_') || /^whsec_[A-Za-z0-9+/]{2,}=*$/.test(text)) return text || undefined;
  throw new ConfigError('OPENPIT_WEBHOOK_SECRET must be base64 after whsec_, or not begin with whsec_.');
}

export type HttpImplementation = 'openpit' | 'bun';

export function readHttp(text: string): HttpImplementation {
  if (text === 'openpit' || text === 'bun') return text;
  throw new ConfigError(`OPENPIT_HTTP must be openpit or bun (it is "${text}").`);
}

export function readLogLevel(text: string): LogLevel {
  const level = LOG_LEVELS.find((one) => one === text.toLowerCase());
  if (!level)
    throw new ConfigError(`OPENPIT_LOG_LEVEL must be one of ${LOG_LEVELS.join(', ')} (it is "${text}").`);
  return level;
}
