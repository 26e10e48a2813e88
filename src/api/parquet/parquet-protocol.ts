import type { FlatColumn } from '../model/table.ts';

/** Each message is answered with the bytes that are complete by then, except `yield` and `abort`. */
export type ToParquet =
  /** Lower the priority of the thread. */
  | { kind: 'yield' }
  | { kind: 'open'; job: number; columns: readonly FlatColumn[] }
  | { kind: 'add'; job: number; ndjson: Uint8Array }
  | { kind: 'finish'; job: number }
  | { kind: 'abort'; job: number };

export type FromParquet =
  | { kind: 'bytes'; job: number; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'failed'; job: number; message: string };
