import { expect, test } from 'bun:test';
import { bufferPool } from '../../../http/message/buffer-pool.ts';
import type { RawReply } from '../../../http/message/reply.ts';
import { ClientAddress } from '../../access/client-address.ts';
import type { RequestContext } from '../request/request-context.ts';
import { LargeResponses } from './large-responses.ts';

const BYTES = 100;

/** Requests large responses of 100 bytes, which are built when the test says so. */
function requester(atOnceMax: number, unreadBytesMax: number) {
  const responses = new LargeResponses(new ClientAddress([]), atOnceMax, unreadBytesMax);
  const started: string[] = [];
  const building = new Map<string, PromiseWithResolvers<RawReply>>();
  const requests = new Map<string, Promise<RawReply>>();

  return {
    started,
    request(name: string, client: { account?: string; address?: string; isVisitor?: boolean } = {}) {
      const { account = 'acc', address = '203.0.113.1', isVisitor = false } = client;
      const customer = { id: account, visitors: isVisitor ? {} : undefined };
      const request = { headers: new Headers() };
      const context = { customer, request, peer: () => address } as unknown as RequestContext;
      const build = () => {
        started.push(name);
        building.set(name, Promise.withResolvers<RawReply>());
        return building.get(name)!.promise;
      };
      requests.set(name, responses.build(context, build));
      return requests.get(name)!;
    },
    async finish(name: string) {
      building.get(name)!.resolve({ status: 200, bytes: bufferPool.acquire(BYTES) });
      await requests.get(name);
      await settled();
    },
    async fail(name: string) {
      building.get(name)!.reject(new Error('bug'));
      await expect(requests.get(name)!).rejects.toThrow('bug');
      await settled();
    },
    async read(name: string) {
      const { bytes } = await requests.get(name)!;
      if (!('take' in bytes)) throw new Error('the response is not in a pooled buffer');
      bytes.take();
      bytes.release();
      await settled();
    },
  };
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test('large responses of an account are built one after another, and those of other accounts meanwhile', async () => {
  const { started, request, finish, fail } = requester(1, 1_000);
  for (const name of ['a', 'b', 'c']) request(name);
  request('other', { account: 'other' });
  expect(started).toEqual(['a', 'other']);
  await finish('a');
  expect(started).toEqual(['a', 'other', 'b']);
  await fail('b');
  expect(started).toEqual(['a', 'other', 'b', 'c']);
});

test('while the clients of an account have much to read, its next response waits until they have read it or disconnected', async () => {
  const { started, request, finish, read } = requester(Number.POSITIVE_INFINITY, 2 * BYTES);
  for (const name of ['a', 'b', 'c']) request(name);
  expect(started).toEqual(['a', 'b', 'c']); // nothing is unread yet
  for (const name of ['a', 'b', 'c']) await finish(name);
  request('d');
  request('e');
  request('other', { account: 'other' });
  expect(started).toEqual(['a', 'b', 'c', 'other']);
  await read('b');
  expect(started).toEqual(['a', 'b', 'c', 'other', 'd', 'e']);
});

test('visitors wait only for responses to their own address', async () => {
  const { started, request, finish } = requester(1, 1_000);
  request('a', { isVisitor: true, address: '203.0.113.1' });
  request('b', { isVisitor: true, address: '203.0.113.1' });
  request('c', { isVisitor: true, address: '203.0.113.2' });
  expect(started).toEqual(['a', 'c']);
  await finish('a');
  expect(started).toEqual(['a', 'c', 'b']);
});

test('nothing is built for a client that has disconnected, and the next one has its turn', async () => {
  const { started, request, finish } = requester(1, 1_000);
  request('a');
  const gone = request('gone', { address: '' });
  request('b');
  await Promise.all([finish('a'), expect(gone).rejects.toThrow('the client is gone')]);
  expect(started).toEqual(['a', 'b']);
});
