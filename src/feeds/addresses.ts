import type { Provider } from './provider.ts';

const LOCAL_HOSTS = ['127.0.0.1', 'localhost', '[::1]'];

/** Whether an address is encrypted, or on this machine. */
export function isSecure({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && LOCAL_HOSTS.includes(hostname));
}

/** Why an address cannot replace the one that a provider has under this name; undefined if it can. */
export function addressProblem(own: Provider['urls'], name: string, url: string): string | undefined {
  const template = Object.hasOwn(own, name) ? own[name] : undefined;
  if (template === undefined) return `there is no address ${name}; there are ${Object.keys(own).join(', ')}`;
  const target = URL.parse(url);
  if (!target || !isSecure(target))
    return `the address must be an https address such as ${template} (received "${url}")`;
  const missing = (template.match(/\{\w+\}/g) ?? []).find((part) => !url.includes(part));
  return missing && `the address must contain ${missing}, as in ${template}`;
}
