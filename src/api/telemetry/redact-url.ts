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

function redactPair(pair: string): string {
  const equals = pair.indexOf('=');
  if (equals < 0) return redactText(pair);
  const name = pair.slice(0, equals);
  if (isSecretName(decode(name))) return `${redactText(name)}=${REDACTED}`;
  return `${redactText(name)}=${redactText(pair.slice(equals + 1))}`;
}

/** A client may send its admin token or a password as a parameter, where it has no effect. */
function isSecretName(name: string): boolean {
  return isKeyName(name) || /token|password|passwd|pwd|secret|signature|credential|authorization/i.test(name);
}

function redactText(text: string): string {
  const decoded = decode(text);
  return redactKeys(decoded) === decoded && redactKeys(text) === text ? text : REDACTED;
}
