import { describe, expect, test } from 'bun:test';
import type { Board } from '../../board/board.ts';
import { View } from '../../board/views/view.ts';
import { bufferPool, PooledBuffer } from '../../http/message/buffer-pool.ts';
import type { RawReply } from '../../http/message/reply.ts';
import type { Plan } from '../../ledger/accounts/plans.ts';
import { encodeText, HEAD_ROOM } from '../model/byte-writer.ts';
import type { RateLimit } from '../response/request-lines.ts';
import { timestampStart } from '../response/timestamp.ts';
import type { RequestId } from '../telemetry/request-id.ts';
import { AnswerValidity } from './answer-validity.ts';
import { CachedAnswer } from './cached-answer.ts';

const NOW = Date.UTC(2026, 10, 16, 12);
const PLAN = { name: 'live', quota: 10, burstPerSecond: 1 } as Plan;
const LEFT: RateLimit = { policy: 'month', remaining: 7, resetSeconds: 600 };
const LONG = `,"rates":"${'x'.repeat(2_000)}"}`;
const SHORT = ',"rates":{}}';

/** An answer with the time of `NOW`. */
function answerWith(rest: string): CachedAnswer {
  const start = timestampStart(NOW).slice(0, -1);
  const body = { ...encodeText(start + rest), contentFrom: start.length, type: 'application/json' };
  const tags = { etag: 'W/"a"', status: 200, finality: 'live' } as const;
  return new CachedAnswer({ body, ...tags, link: undefined, warnings: {}, plan: PLAN });
}

function retained(rest: string): CachedAnswer {
  const answer = answerWith(rest);
  const board = { catalog: {} } as Board;
  const view = new View(0, 0);
  answer.retain(
    new AnswerValidity({ board, view, series: [], version: 0, now: NOW, changesEverySecond: false }),
  );
  return answer;
}

function to(id: RequestId, encoding: string | null = null, now = NOW) {
  const headers = { get: () => encoding, has: () => false };
  return {
    request: { method: 'GET', url: '/', headers, bytes: async () => new Uint8Array(), text: async () => '' },
    id,
    customer: undefined,
    now,
  };
}

/** Sends a response as the server does. */
function received({ bytes }: RawReply): { head: string; body: string } {
  if (!(bytes instanceof PooledBuffer)) throw new Error('not pooled');
  const text = bytes.take().toString('latin1');
  bytes.release();
  const end = text.indexOf('\r\n\r\n') + 4;
  const [head, sent] = [text.slice(0, end), text.slice(end)];
  const isGzip = head.includes('Content-Encoding: gzip');
  return { head, body: isGzip ? gunzip(sent) : sent };
}

function gunzip(text: string): string {
  return Buffer.from(Bun.gunzipSync(Buffer.from(text, 'latin1'))).toString();
}

const bodyAt = (now: number, rest: string) => timestampStart(now).slice(0, -1) + rest;

describe('an answer in a pooled buffer', () => {
  for (const encoding of [null, 'gzip']) {
    test(`is sent once (${encoding ?? 'plain'}): its memory may then hold the answer of another customer`, () => {
      const answer = answerWith(LONG);
      const reply = answer.send(to('id', encoding), LEFT);
      expect(received(reply).body).toBe(bodyAt(NOW, LONG));
      expect(() => received(reply)).toThrow('used after it was taken');
      for (const again of [null, 'gzip'])
        expect(() => answer.send(to('id', again), LEFT)).toThrow('sent twice');
    });
  }

  test('can be sent with a head that does not fit in front of it', () => {
    const { head, body } = received(answerWith(SHORT).send(to('x'.repeat(HEAD_ROOM)), undefined));
    expect(head).toContain('x'.repeat(HEAD_ROOM));
    expect(body).toBe(bodyAt(NOW, SHORT));
  });
});

describe('a retained answer', () => {
  test('can be sent any number of times, also after its buffer was reused, with the time of each response', () => {
    for (const rest of [SHORT, LONG]) {
      const answer = retained(rest);
      for (let i = 0; i < 6; i++) {
        const now = NOW + 700 * i;
        const { head, body } = received(
          answer.send(to(`id-${i}`, i % 2 ? 'gzip' : null, now), { ...LEFT, remaining: 10 ** i }),
        );
        expect(body).toBe(bodyAt(now, rest));
        expect(head).toContain(`Date: ${new Date(now).toUTCString()}\r\n`);
        expect(head).toContain(`\nX-Request-Id: id-${i}\r\nRateLimit: "month";r=${10 ** i};t=600\r\n`);
        const other = bufferPool.acquireRounded(4_096);
        other.memory.fill('!');
        other.takeWhole();
        other.release();
      }
    }
  });

  test('carries the length of what is sent in either encoding, and none without a body', () => {
    const answer = retained(LONG);
    for (const encoding of [null, 'gzip']) {
      const { bytes } = answer.send(to('id', encoding), LEFT);
      const text = (bytes as PooledBuffer).take().toString('latin1');
      const length = Number(/\nContent-Length: (\d+)/.exec(text)![1]);
      expect(text.length - text.indexOf('\r\n\r\n') - 4).toBe(length);
    }
    for (const reply of [answer.headOnly(to('id'), LEFT), answer.notModified('"a"', to('id'), LEFT)]) {
      const { head, body } = received(reply);
      expect([body, head.includes('\nContent-Length')]).toEqual(['', false]);
    }
  });

  test('answers a 304 with the tag of the encoding that the client has', () => {
    const answer = retained(SHORT);
    expect(received(answer.notModified('W/"a-gzip"', to('id'), LEFT)).head).toContain('ETag: W/"a-gzip"\r\n');
    expect(received(answer.notModified('"a"', to('id'), LEFT)).head).toContain('ETag: W/"a"\r\n');
  });
});

test('an answer takes a whole number of bytes', () => {
  for (let length = 2_000; length < 2_010; length++) {
    const { bytes } = retained(`,"rates":"${'x'.repeat(length)}"}`);
    expect(Number.isInteger(bytes)).toBe(true);
  }
});
