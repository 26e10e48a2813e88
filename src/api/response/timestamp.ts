import type { Bytes } from '../../http/message/buffer-pool.ts';

const START = '{"success":true,"timestamp":';

/** The beginning of a JSON answer with the time of the response. The rest does not depend on the second. */
export function timestampStart(now: number): string {
  return `${START}${textOf(now)},`;
}

/** Replaces the time in an answer that begins with `timestampStart`, at an offset. It has ten digits until the year 2286. */
export function writeTimestamp(memory: Bytes, at: number, now: number): void {
  memory.latin1Write(textOf(now), at + START.length);
}

let second = -1;
let text = '';

/** Formatted once a second. */
function textOf(now: number): string {
  const current = Math.floor(now / 1000);
  if (current !== second) {
    second = current;
    text = String(current);
  }
  return text;
}
