import type { RequestTimer } from '../message/reply.ts';

/** Responses are sent after this many clients, so that the first does not wait for a thousand others. */
const CLIENTS_PER_SEND = 64;
/** Time for reading and handling requests before the event loop continues… */
const READ_MS_MAX = 5;
/** …and including the sending of responses: sending much to a client that was slow takes long. */
const BATCH_MS_MAX = 8;
/** The clock is read after this many clients. */
const CLIENTS_PER_TIME_CHECK = 8;

/** A connection with bytes to parse. Must not throw: the other clients of the batch would wait forever. */
interface Reader {
  read(): void;
}

/** A connection with bytes to send. Must not throw either. */
interface Sender {
  sendBatch(): void;
}

/**
 * Batches reads and writes per event-loop iteration:
 *
 *     data, data, data, … ─► read and handle, read and handle, … ─► write, write, …
 *
 * System calls and request handling evict each other from the CPU's caches: handled in a row, requests cost little more
 * than half. Several responses to one client become one write, and consecutive writes find the other end awake.
 */
export class IoBatch {
  #readers: Reader[] = [];
  #senders: Sender[] = [];
  #isScheduled = false;
  #startedAt = 0;
  readonly #onError: (error: unknown) => void;
  readonly #arrivalMs: () => number;
  #arrivedAt = 0;
  #isArrivalKnown = false;
  #timers: RequestTimer[] = [];
  #timerStarts: number[] = [];

  /** `onError` is called with the error of a timer; `arrivalMs` returns when the bytes being read now arrived. */
  constructor(onError: (error: unknown) => void, arrivalMs: () => number = () => performance.now()) {
    this.#onError = onError;
    this.#arrivalMs = arrivalMs;
  }

  /** When the bytes of this iteration arrived. Reads the clock once per iteration: a read costs 50 ns. */
  get arrivedAt(): number {
    if (!this.#isArrivalKnown) {
      this.#arrivedAt = this.#arrivalMs();
      this.#isArrivalKnown = true;
    }
    return this.#arrivedAt;
  }

  /** Reports the duration of a request to `timer` once the responses of this batch are sent. */
  addTimer(timer: RequestTimer, arrivedAt: number): void {
    this.#timers.push(timer);
    this.#timerStarts.push(arrivedAt);
    this.#schedule();
  }

  /** Reads a client's requests in this batch. */
  addReader(reader: Reader): void {
    this.#readers.push(reader);
    this.#schedule();
  }

  /** Sends the queued responses of a client in this batch. */
  addSender(sender: Sender): void {
    this.#senders.push(sender);
    this.#schedule();
  }

  /** Whether the batch has to end: timers, new data and the remaining clients are waiting. */
  get isTimeUp(): boolean {
    return performance.now() > this.#startedAt + READ_MS_MAX;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(this.#run);
  }

  readonly #run = (): void => {
    this.#startedAt = performance.now();
    this.#isArrivalKnown = false;
    const readers = this.#readers;
    this.#readers = [];
    let done = 0;
    while (done < readers.length) {
      readers[done++]!.read();
      if (done % CLIENTS_PER_SEND === 0) this.#send();
      if (done % CLIENTS_PER_TIME_CHECK === 0 && this.isTimeUp) break;
    }
    this.#send();
    if (done < readers.length) this.#readers = [...readers.slice(done), ...this.#readers];
    this.#isScheduled = false;
    if (this.#readers.length > 0 || this.#senders.length > 0) this.#schedule();
  };

  #send(): void {
    const senders = this.#senders;
    this.#senders = [];
    let done = 0;
    while (done < senders.length) {
      senders[done++]!.sendBatch();
      if (done % CLIENTS_PER_TIME_CHECK === 0 && performance.now() > this.#startedAt + BATCH_MS_MAX) break;
    }
    if (done < senders.length) this.#senders = [...senders.slice(done), ...this.#senders];
    if (this.#timers.length > 0) this.#reportTimes();
  }

  #reportTimes(): void {
    const timers = this.#timers;
    const starts = this.#timerStarts;
    this.#timers = [];
    this.#timerStarts = [];
    const now = performance.now();
    for (let i = 0; i < timers.length; i++) {
      try {
        timers[i]!.add(now - starts[i]!);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
