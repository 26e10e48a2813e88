import { BlockList, isIP } from 'node:net';

/** Entries in the rules of a key. */
export const RANGES_MAX = 50;

/** A list of addresses and CIDR ranges, such as `10.0.0.0/8` or `2001:db8::1`. */
export class AddressList {
  readonly entries: readonly string[];
  readonly #list = new BlockList();

  /** Throws an error that names an invalid entry. */
  constructor(entries: readonly string[]) {
    this.entries = entries;
    for (const entry of entries) {
      const range = readRange(entry);
      if (!range) throw new Error(`"${entry}" is neither an address nor a range such as 10.0.0.0/8`);
      this.#list.addSubnet(range.address, range.prefix, range.family);
    }
  }

  has(address: string): boolean {
    const plain = unmapped(address);
    const kind = isIP(plain);
    return kind !== 0 && this.#list.check(plain, kind === 4 ? 'ipv4' : 'ipv6');
  }
}

/** The addresses that a range has in common with a list: the range, or the list's entries within it. */
export function commonRanges(range: string, entries: readonly string[]): readonly string[] {
  return entries.some((entry) => contains(entry, range))
    ? [range]
    : entries.filter((entry) => contains(range, entry));
}

/** Whether all addresses of a range lie in another one. */
function contains(outer: string, inner: string): boolean {
  const [{ prefix, family }, range] = [readRange(outer)!, readRange(inner)!];
  return range.family === family && range.prefix >= prefix && new AddressList([outer]).has(range.address);
}

export function isAddressOrRange(entry: string): boolean {
  return readRange(entry) !== undefined;
}

/** Undefined when the entry is neither an address nor a range. A single address is a range of one. */
export function readRange(
  entry: string,
): { address: string; prefix: number; family: 'ipv4' | 'ipv6' } | undefined {
  const match = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry.trim());
  const address = unmapped(match?.[1] ?? '');
  const kind = isIP(address);
  const width = kind === 4 ? 32 : 128;
  const prefix = Number(match?.[2] ?? width);
  if (kind === 0 || prefix > width) return undefined;
  return { address, prefix, family: kind === 4 ? 'ipv4' : 'ipv6' };
}

/** Unwraps an IPv4-mapped IPv6 address: `::ffff:1.2.3.4` becomes `1.2.3.4`. */
export function unmapped(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address.trim());
  return mapped ? mapped[1]! : address.trim();
}

/** A proxy may pass on arbitrary text as the address, which must not fill the memory. */
const OTHER_LENGTH_MAX = 64;

/** The key of limits per address: an IPv4 address, or the /64 network of an IPv6 address, which is one customer's. */
export function limitKey(address: string): string {
  const plain = unmapped(address);
  if (isIP(plain) !== 6) return plain.slice(0, OTHER_LENGTH_MAX);
  // `::` stands for omitted groups of zeros, which are restored before the first four groups are taken.
  const [left = '', right = ''] = plain.split('%', 1)[0]!.toLowerCase().split('::');
  const before = left === '' ? [] : left.split(':');
  const after = right === '' ? [] : right.split(':');
  const zeros = new Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  const groups = [...before, ...zeros, ...after].slice(0, 4);
  return groups.map((group) => Number.parseInt(group, 16).toString(16)).join(':');
}

/** Whether an address, or the host of a URL, is this machine's own. In a URL, an IPv6 address is in brackets. */
export function isLoopback(address: string): boolean {
  const plain = unmapped(address.replace(/^\[|\]$/g, ''));
  return plain === '::1' || (isIP(plain) === 4 && plain.startsWith('127.'));
}
