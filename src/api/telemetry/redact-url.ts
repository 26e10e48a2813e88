import { redactKeys } from '../../gate/key.ts';
import { isKeyName } from '../access/api-key.ts';
import { decode } from '../model/query.ts';

const REDACTED = 'REDACTED';

/**
 * Makes a URL safe to log. It replaces the value of `apiKey` and of its other names, however they are written, and anything
 * else that looks like a key once decoded.
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
  if (isKeyName(decode(name))) return `${redactText(name)}=${REDACTED}`;
  return `${redactText(name)}=${redactText(pair.slice(equals + 1))}`;
}

function redactText(text: string): string {
  const decoded = decode(text);
  return redactKeys(decoded) === decoded && redactKeys(text) === text ? text : REDACTED;
}
