import { redactKeys } from '../../gate/key.ts';
import { isKeyName } from '../access/api-key.ts';
import { decode } from '../model/query.ts';

const REDACTED = 'REDACTED';

/**
 * Makes a URL safe to log. It replaces the value of `apiKey`, of its other names and of those of other secrets, however they
 * are written, and anything else that looks like a key once decoded.
 */
export function redactUrl(url: string): string {
  const mark = url.indexOf('?');
  if (mark < 0) return redactText(url);
  const pairs = url.slice(mark + 1).split('&');
  return `${redactText(url.slice(0, mark))}?${pairs.map(redactPair).join('&')}`;
}

/** A second question mark starts another parameter, as in `?symbols=XAU?apiKey=…`; in a secret, it is part of the value. */
function redactPair(pair: string): string {
  const parts = pair.split('?');
  const secret = parts.findIndex((part) => part.includes('=') && isSecretName(decode(nameOf(part))));
  if (secret < 0) return parts.map(redactPart).join('?');
  const before = parts.slice(0, secret).map(redactPart);
  return [...before, `${redactText(nameOf(parts[secret]!))}=${REDACTED}`].join('?');
}

function redactPart(part: string): string {
  if (!part.includes('=')) return redactText(part);
  const name = nameOf(part);
  return `${redactText(name)}=${redactText(part.slice(name.length + 1))}`;
}

function nameOf(pair: string): string {
  return pair.slice(0, pair.indexOf('='));
}

/** A client may send its admin token or a password as a parameter, where it has no effect. */
function isSecretName(name: string): boolean {
  return isKeyName(name) || /token|password|passwd|pwd|secret|signature|credential|authorization/i.test(name);
}

function redactText(text: string): string {
  const decoded = decode(text);
  return redactKeys(decoded) === decoded && redactKeys(text) === text ? text : REDACTED;
}
