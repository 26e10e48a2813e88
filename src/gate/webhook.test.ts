import { expect, test } from 'bun:test';
import { respondWithBytes } from '../../test/support/feeds/stub-server.ts';
import { messageOf } from '../runtime/log/log.ts';
import { Webhook } from './webhook.ts';

/** The URLs of chat services contain a secret, and messages are logged. */
test.each([
  [
    'a redirect, which is not followed',
    'the receiver responded with 307',
    'HTTP/1.1 307 Temporary Redirect\r\nlocation: /other\r\n',
  ],
  ['something that is not HTTP', 'Malformed_HTTP_Response', 'HTTP/1.1 200 OK\r\nx: \x01\r\n'],
])('the message after %s does not contain the URL', async (_, message, head) => {
  const received: string[] = [];
  const url = await respondWithBytes(`${head}content-length: 0\r\n\r\n`, (socket) => {
    received.push('post');
    socket.end();
  });
  const webhook = new Webhook(`${url}/hooks/secret`, 'secret', { now: () => 0 });
  const failure = await webhook.send('id', { type: 'test' }).catch(messageOf);
  expect(failure).toBe(message);
  expect(received).toEqual(['post']);
});
