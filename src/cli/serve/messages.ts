/**
 * The environment variable that tells a child who its supervisor is. An IPC channel alone does not: a process manager may
 * open one as well.
 */
export const SUPERVISOR_PID = '_OPENPIT_SUPERVISOR_PID';

/** The first message from a supervisor to its child. */
export interface Assignment {
  /** Process 0 runs the feeds for the whole machine. */
  index: number;
  /** The number of processes. */
  count: number;
  port: number;
  /** Whether no other process has started yet. */
  isFirst: boolean;
}

/** What processes tell each other: their metrics, and their traffic by minute. */
export type SharedText = 'metrics' | 'traffic';

/** Later messages: the supervisor relays the children's messages to each other. */
export type ToChild =
  /** The process `from` requests a text. */
  | { kind: 'collect'; what: SharedText; from: number; number: number }
  /** The text of the process `from`, for the request `number`. */
  | { kind: 'collected'; from: number; number: number; text: string };

/** Messages from a child to its supervisor. */
export type FromChild =
  | { kind: 'ready'; url: string; demoKey: string | undefined }
  /** Requests a text of all other processes. */
  | { kind: 'collect'; what: SharedText; number: number }
  | { kind: 'collected'; to: number; number: number; text: string };
