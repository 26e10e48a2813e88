import { BlockList, isIP } from 'node:net';

/** A list of addresses and CIDR ranges, such as `10.0.0.0/8` or `2001:db8::1`. */
export class AddressList {
  readonly #list = new BlockList();

  /** Throws with the entry that is neither. */
  constructor(entries: readonly string[]) {
    for (const entry of entries) {
      const range = readRange(entry);
      if (!range) throw new Error(`"${entry}" is neither an address nor a range such as 10.0.0.0/8`);
      this.#list.addSubnet(range.address, range.prefix, range.family);
    }
  }

  has(address: string): boolean {
    const plain = withoutMapping(address);
    const kind = isIP(plain);
    return kind !== 0 && this.#list.check(plain, kind === 4 ? 'ipv4' : 'ipv6');
  }
}

export function isAddressOrRange(entry: string): boolean {
  return readRange(entry) !== undefined;
}

/** Undefined for what is neither an address nor a range. A single address has the prefix of its whole width. */
export function readRange(
  entry: string,
): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry.trim());
  const address = withoutMapping(match?.[1] ?? '');
  const kind = isIP(address);
  const width = kind === 4 ? 32 : 128;
  const prefix = Number(match?.[2] ?? width);
  if (kind === 0 || prefix > width) return undefined;
  return { address, prefix, family: kind === 4 ? 'ipv4' : 'ipv6' };
}

/** An IPv4 address that came over an IPv6 socket (`::ffff:1.2.3.4`), as itself. */
export function withoutMapping(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address.trim());
  return mapped ? mapped[1]! : address.trim();
}

/** What is no address comes from a proxy that passes on anything: it must not fill the memory. */
const OTHER_LENGTH_MAX = 64;

/** What limits by address go by: one IPv4 address, or the /64 that one IPv6 customer has. */
export function limitKey(address: string): string {
  const plain = withoutMapping(address);
  if (isIP(plain) !== 6) return plain.slice(0, OTHER_LENGTH_MAX);
  // `2001:db8::7` leaves out groups of zeros: they are put back before the first four are taken.
  const [left = '', right = ''] = plain.split('%', 1)[0]!.toLowerCase().split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === '' ? [] : right.split(':');
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

/** Whether an address is this machine's own. */
export function isLoopback(address: string): boolean {
  const plain = withoutMapping(address);
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
