import { writeSync } from 'node:fs';
import { codeOf } from '../../runtime/log/log.ts';

const STANDARD_OUTPUT = 1;
const RETRY_MS = 5;

/**
 * Prints what a command returns. Unlike console.log it throws if standard output does not take it, for example on a full
 * disk: a script must not use half a list, and a key is shown only once. `onUnread` is called if nobody reads the output any more.
 */
export function printLine(text: string, onUnread = () => {}): void {
  const bytes = Buffer.from(`${text}\n`);
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(STANDARD_OUTPUT, bytes, written);
    } catch (error) {
      if (codeOf(error) === 'EPIPE') {
        onUnread(); // the reader has seen enough, as head does
        return;
      }
      if (codeOf(error) !== 'EAGAIN') throw error;
      Bun.sleepSync(RETRY_MS); // a pipe that does not block is full
    }
  }
}
