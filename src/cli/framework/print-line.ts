import { writeSync } from 'node:fs';
import { codeOf } from '../../runtime/log/log.ts';
import { COLOUR_CODES } from './colour.ts';

const STANDARD_OUTPUT = 1;
const RETRY_MS = 5;

/**
 * Prints what a command returns. Unlike console.log it throws if standard output does not take it, for example on a full
 * disk: a script must not use half a list, and a key is shown only once. `onUnread` is called if nobody reads the output any more.
 */
export function printLine(text: string, onUnread = () => {}): void {
  const bytes = Buffer.from(`${terminalText(text)}\n`);
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

/** Prints a message, warning or error to standard error. */
export function printMessage(text: string): void {
  console.error(terminalText(text));
}

/** Control characters but the line feed and the tab, and characters that change the direction of what follows. */
const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/gu;

const COLOURS = new RegExp(`(${COLOUR_CODES.map((code) => RegExp.escape(code)).join('|')})`);

/**
 * Escapes, as JSON does, what a terminal would execute: texts from files, providers and servers could otherwise change its
 * title, its clipboard or the lines before. Only the program's own colours are kept.
 */
export function terminalText(text: string): string {
  if (text.search(CONTROL_CHARACTERS) < 0) return text;
  return text
    .split(COLOURS)
    .map((part, i) => (i % 2 === 1 ? part : part.replace(CONTROL_CHARACTERS, escaped)))
    .join('');
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
