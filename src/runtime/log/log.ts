import type { Clock } from '../clock.ts';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

/** One line of JSON per event. Callers name every field: no request, URL or header is logged whole. */
export interface Log {
  readonly debugs: boolean;
  debug(event: string, fields?: Fields): void;
  info(event: string, fields?: Fields): void;
  warn(event: string, fields?: Fields): void;
  error(event: string, fields?: Fields): void;
}

export function createLog(level: LogLevel, clock: Clock, write: (line: string) => void): Log {
  const threshold = LOG_LEVELS.indexOf(level);
  const at =
    (own: LogLevel) =>
    (event: string, fields: Fields = {}) => {
      if (LOG_LEVELS.indexOf(own) < threshold) return;
      write(logLine(clock, own, event, fields));
    };
  return {
    debugs: level === 'debug',
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
  };
}

export function logLine(clock: Clock, level: LogLevel, event: string, fields: Fields): string {
  return `${JSON.stringify({ time: new Date(clock.now()).toISOString(), level, event, ...fields })}\n`;
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message.replace(BUN_ADDITION, '') : String(error);
}

/**
 * What Bun adds to the message of a connection that failed: a question after a refusal, where what to check depends on who
 * connects to what; and after a response that is not HTTP its URL, which may contain a secret.
 */
const BUN_ADDITION =
  / Is the computer able to access the url\?$| fetching ".*For more information, pass `verbose.*$/s;

/** Its code, such as ENOENT; empty if it has none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
