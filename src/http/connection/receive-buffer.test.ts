import { expect, test } from 'bun:test';
import type { Head } from '../parse/head.ts';
import { HeaderCache } from '../parse/header-cache.ts';
import { ReceiveBuffer } from './receive-buffer.ts';

const REQUEST = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/** Packets of half a megabyte that end in the same request. */
const PACKETS = {
  'empty lines': '\r\n'.repeat(256 * 1024) + REQUEST,
  'pipelined requests': REQUEST.repeat(20_000),
  'pipelined requests with other paths':
    REQUEST.replace('/', '/other').repeat(15_000) + REQUEST.replace('/', '/last'),
};

/** Takes every head of a packet, and passes the packet to `onAdded`. */
function receive(text: string, headers: HeaderCache, onAdded: (packet: Buffer) => void): ReceiveBuffer {
  const buffer = new ReceiveBuffer();
  const packet = Buffer.from(text);
  onAdded(packet);
  buffer.add(packet);
  while (buffer.length > 0) expect(buffer.takeHead(headers)).toMatchObject({ method: 'GET' });
  return buffer;
}

for (const [name, text] of Object.entries(PACKETS)) {
  test(`an idle connection does not keep the memory of ${name} before its last request`, async () => {
    const headers = new HeaderCache();
    const packets: WeakRef<ArrayBufferLike>[] = [];
    const idle = Array.from({ length: 10 }, () =>
      receive(text, headers, (packet) => packets.push(new WeakRef(packet.buffer))),
    );
    await Bun.sleep(0); // a WeakRef keeps its target until the end of the job
    Bun.gc(true);
    const kept = packets.filter((packet) => packet.deref() !== undefined).length;
    expect(kept).toBeLessThanOrEqual(2); // the garbage collector scans the stack conservatively
    expect(idle.every(({ length }) => length === 0)).toBe(true);
  });
}

test('a head that ends a longer packet is recognized when it is repeated', () => {
  const headers = new HeaderCache();
  const buffer = receive(PACKETS['pipelined requests'].slice(-10 * REQUEST.length), headers, () => {});
  const take = () => {
    buffer.add(Buffer.from(REQUEST));
    return buffer.takeHead(headers);
  };
  expect(take()).toBe(take()!);
});

test('requests of two programs in turn, each with its own header lines, share them', () => {
  const headers = new HeaderCache();
  const buffer = new ReceiveBuffer();
  const take = (path: string, lines: string) => {
    buffer.add(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`));
    return buffer.takeHead(headers) as Head;
  };
  const [withKey, without] = ['X-Api-Key: b\r\n', 'Accept: */*\r\n'];
  const [first, second] = [take('/a', withKey).fields, take('/a', without).fields];
  for (const path of ['/b', '/cd', '/e']) {
    expect(take(path, withKey).fields).toBe(first);
    expect(take(path, without).fields).toBe(second);
  }
});
