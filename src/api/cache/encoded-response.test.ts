import { describe, expect, test } from 'bun:test';
import { bufferPool, PooledBuffer } from '../../http/message/buffer-pool.ts';
import type { RawReply } from '../../http/message/reply.ts';
import { HEAD_ROOM } from '../model/byte-writer.ts';
import { EncodedResponse } from './encoded-response.ts';

const GIVEN = { givenId: 'id', requestNumber: 1, requestId: 'id' };
const NUMBERED = { givenId: undefined, requestNumber: 1, requestId: 'number-1' };

const BODY = '{"success":true}';

function encoded(): EncodedResponse {
  const packet = bufferPool.acquire(HEAD_ROOM + BODY.length);
  packet.memory.latin1Write(BODY, HEAD_ROOM);
  return new EncodedResponse({
    body: { packet, length: BODY.length },
    etag: '"a"',
    bodyLines: '',
    lines: '',
    status: 200,
    madeAt: 0,
  });
}

/** Sends a response as the server does. */
function send({ bytes }: RawReply): string {
  if (!(bytes instanceof PooledBuffer)) return Buffer.from(bytes).toString('latin1');
  const text = bytes.take().toString('latin1');
  bytes.release();
  return text;
}

describe('an answer in a pooled buffer', () => {
  test('is sent once: its memory may then hold the answer of another customer, so every other use throws', () => {
    const answer = encoded();
    const reply = answer.success(GIVEN, undefined);
    expect(send(reply)).toEndWith(BODY);
    expect(() => send(reply)).toThrow('used after it was taken');
    expect(() => answer.success(GIVEN, undefined)).toThrow('sent twice');
    expect(() => answer.success(NUMBERED, 'r')).toThrow('sent twice');
    expect(() => answer.gzipped('"b"')).toThrow('sent twice');
  });

  test('can be sent any number of times if it was retained, also after its buffer would have been reused', () => {
    const answer = encoded();
    answer.retain();
    const replies = [
      answer.success(GIVEN, undefined),
      answer.success(GIVEN, undefined),
      answer.success(NUMBERED, 'r'),
    ];
    const other = bufferPool.acquire(HEAD_ROOM + BODY.length);
    other.memory.fill('!');
    for (const reply of replies) expect(send(reply)).toEndWith(BODY);
    expect(send(answer.success(NUMBERED, 'r'))).toEndWith(BODY);
  });

  test('can still be compressed or sent with a long head before it is sent', () => {
    const answer = encoded();
    const compressed = send(answer.gzipped('"b"').success(GIVEN, undefined));
    const body = Buffer.from(compressed.slice(compressed.indexOf('\r\n\r\n') + 4), 'latin1');
    expect(Buffer.from(Bun.gunzipSync(body)).toString()).toBe(BODY);
    expect(send(answer.success({ ...GIVEN, requestId: 'x'.repeat(HEAD_ROOM) }, undefined))).toEndWith(BODY);
    expect(send(answer.success(GIVEN, undefined))).toEndWith(BODY);
  });
});
