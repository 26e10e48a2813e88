/** The first message from a supervisor to its child. */
export interface Assignment {
  /** Process 0 runs the feeds for the whole machine. */
  index: number;
  /** The number of processes. */
  count: number;
  port: number;
}

/** Later messages: the supervisor relays the children's messages to each other. */
export type ToChild =
  /** The process `from` requests metrics. */
  | { kind: 'collect'; from: number; number: number }
  /** The metrics of the process `from`, for the request `number`. */
  | { kind: 'collected'; from: number; number: number; text: string };

/** Messages from a child to its supervisor. */
export type FromChild =
  | { kind: 'ready'; url: string; demoKey: string | undefined }
  /** Requests the metrics of all other processes. */
  | { kind: 'collect'; number: number }
  | { kind: 'collected'; to: number; number: number; text: string };
