/** What a supervisor tells its child first. */
export interface Assignment {
  /** The first runs the feeds; they are for the whole machine. */
  index: number;
  /** Of all processes. */
  count: number;
  port: number;
}

/** What a supervisor tells its children later: it passes on what they ask each other. */
export type ToChild =
  /** The process `from` asks for metrics. */
  | { kind: 'collect'; from: number; number: number }
  /** The metrics of the process `from`, for the question `number`. */
  | { kind: 'collected'; from: number; number: number; text: string };

/** What a child tells its supervisor. */
export type FromChild =
  | { kind: 'ready'; url: string; demoKey: string | undefined }
  /** Asks all others for their metrics. */
  | { kind: 'collect'; number: number }
  | { kind: 'collected'; to: number; number: number; text: string };
