import { sendRaw } from '../../../support/http/raw.ts';
import { count, usedOf } from '../environment.ts';
import { row } from '../row.ts';
import { type Payload, smugglingPayloads } from './smuggling-payloads.ts';

/** Follows every payload. It is answered if and only if the payload was parsed completely. */
const LAST = 'GET /the-last-one HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n';
const IS_LAST = 'nothing at /the-last-one';

export const smuggling = row('smuggling', {
  fault:
    'smuggling payloads: two lengths, lengths and chunks, bad chunks, bare LF, folded lines, other protocols, …; in one piece, and split at any byte',
  mustHold:
    'refused and closed, or read as the HTTP specification says; a hidden request is never answered or counted',
  async run(environment, { cuts, atATime }) {
    const settings = await environment.settings();
    const { key } = await environment.account(settings, 1_000_000_000);
    const program = await environment.program(settings);
    const hidden = `GET /symbols?hidden HTTP/1.1\r\nHost: test\r\nx-api-key: ${key}\r\n\r\n`;
    const payloads = smugglingPayloads(hidden);
    const tries = payloads.flatMap((payload) => [
      { payload, cut: payload.text.length },
      ...cutsOf(payload.text.length, cuts).map((cut) => ({ payload, cut })),
    ]);
    for (let i = 0; i < tries.length; i += atATime) {
      await Promise.all(
        tries.slice(i, i + atATime).map(async ({ payload, cut }) => {
          const wrong = await wrongWith(program.url, payload, cut);
          environment.holds(!wrong, `${payload.name}, split at ${cut}: ${wrong}`);
        }),
      );
    }
    const used = await usedOf(program, key);
    environment.holds(used === 0, `${used} hidden requests were counted`);
    environment.holds(
      (await program.get('/symbols', key)).status === 200,
      'the hidden request is not a good one',
    );
    const refused = payloads.filter(({ fate }) => fate === 'refused').length;
    return {
      tried: `${payloads.length} payloads, ${count(tries.length)} times`,
      figures: `${refused} are refused and closed; ${payloads.length - refused}, which HTTP allows, are read completely; no hidden request was answered or counted`,
    };
  },
});

/** Sends a payload in two pieces, followed by the last request. Returns what is wrong with the responses. */
async function wrongWith(url: string, { text, fate }: Payload, cut: number): Promise<string | undefined> {
  const all = text + LAST;
  const reply = await Promise.race([
    sendRaw(url, all.slice(0, cut), all.slice(cut)),
    Bun.sleep(14_000).then(() => undefined),
  ]);
  if (reply === undefined) return 'the connection was left open';
  if (reply.includes('"symbols":')) return 'the hidden request was answered';
  const statuses = [...reply.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  const isLast = reply.includes(IS_LAST);
  if (fate === 'read') return statuses.length === 2 && isLast ? undefined : `answered ${statuses}`;
  const isRefused = statuses.every((status) => status >= 400) && !isLast;
  return isRefused ? undefined : `answered ${statuses}${isLast ? ', the last one too' : ''}`;
}

/** Up to `cuts` positions to cut at, evenly spaced. */
function cutsOf(length: number, cuts: number): number[] {
  const step = Math.max(1, length / (cuts + 1));
  const places = Array.from({ length: cuts }, (_, i) => Math.round((i + 1) * step));
  return [...new Set(places.filter((cut) => cut > 0 && cut < length))];
}
