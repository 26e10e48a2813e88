import type { FlatColumn } from '../model/table.ts';

/** Each message is answered with the bytes that are complete by then, except `abort`. */
export type ToParquet =
  | { kind: 'open'; job: number; columns: readonly FlatColumn[] }
  | { kind: 'add'; job: number; ndjson: Uint8Array }
  | { kind: 'finish'; job: number }
  | { kind: 'abort'; job: number };

export type FromParquet =
  | { kind: 'bytes'; job: number; bytes: Uint8Array<ArrayBuffer> }
  | { kind: 'failed'; job: number; message: string };
