import { sendRaw } from '../../../support/http/raw.ts';
import { count, usedOf } from '../environment.ts';
import { row } from '../row.ts';

export const pipelining = row('pipelining', {
  fault: 'pipelined requests, all sent at once on one connection',
  mustHold: 'answered in order, counted exactly',
  async run(environment, { connections, requests }) {
    const settings = await environment.settings();
    const { key } = await environment.account(settings, 1_000_000_000);
    const program = await environment.program(settings);
    const all = await pipeline(program.url, key, connections, requests);
    for (const [i, answers] of all.entries()) {
      environment.holds(
        answers.length === requests,
        `connection ${i}: ${answers.length} answers to ${requests}`,
      );
      environment.holds(
        wrongPlace(answers) < 0,
        `connection ${i}: answer ${wrongPlace(answers)} is another's`,
      );
    }
    const counted = countedIn(all);
    const used = await usedOf(program, key);
    environment.holds(used === counted, `${counted} answers, and used is ${used}`);
    return {
      tried: `${count(requests)} pipelined requests on each of ${connections} connections`,
      figures: `all answered in order; ${count(counted)} cost a unit, used is ${count(used)}`,
    };
  },
});

async function pipeline(
  url: string,
  key: string,
  connections: number,
  requests: number,
): Promise<string[][]> {
  const text = requestsOf(requests, key);
  const replies = await Promise.all(Array.from({ length: connections }, () => sendRaw(url, text)));
  return replies.map(answersIn);
}

/** Alternates between a request that costs a unit, one whose refusal contains its index, and a HEAD. */
function requestsOf(requests: number, key: string): string {
  return Array.from({ length: requests }, (_, i) => {
    const last = i === requests - 1 ? 'Connection: close\r\n' : '';
    const line = [`GET /symbols?n=${i}`, `GET /place-${i}-`, 'HEAD /symbols'][i % 3];
    return `${line} HTTP/1.1\r\nHost: test\r\nx-api-key: ${key}\r\n${last}\r\n`;
  }).join('');
}

const SYMBOLS = '200 {"success":true,"symbols"';

function countedIn(all: readonly string[][]): number {
  return all.flat().filter((answer) => answer.startsWith(SYMBOLS)).length;
}

/** The index of the first response that is out of order; −1 when there is none. */
function wrongPlace(answers: readonly string[]): number {
  return answers.findIndex((answer, place) => {
    if (place % 3 === 0) return !answer.startsWith(SYMBOLS);
    if (place % 3 === 1) return !answer.startsWith('404 ') || !answer.includes(`/place-${place}-`);
    return answer !== '200 ';
  });
}

/** Status and body of each response. Every third is the response to a HEAD: it has a length and no body. */
function answersIn(reply: string): string[] {
  const answers: string[] = [];
  const bytes = Buffer.from(reply);
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const head = bytes.subarray(at, end).toString();
    const length = answers.length % 3 === 2 ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (bytes.length < end + 4 + length) break; // cut off
    answers.push(`${head.slice(9, 12)} ${bytes.subarray(end + 4, end + 4 + length)}`);
    at = end + 4 + length;
  }
  return answers;
}
