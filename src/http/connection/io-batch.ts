import type { RequestTimer } from '../message/reply.ts';

/** So many clients are answered, and then sent their answers. The first must not wait for a thousand others. */
const CLIENTS_AT_ONCE = 64;
/** So long may reading and answering take, before everything else has its turn… */
const READ_MS_MAX = 5;
/** …and so long with sending the answers: a client that comes back after a while is sent much at once. */
const TURN_MS_MAX = 8;
/** After so many clients the time is looked at. */
const CLIENTS_A_LOOK = 8;

/**
 * The end of the event loop's turn, when everything is answered that has arrived in it:
 *
 *     data, data, data, … ─► read and answer, read and answer, … ─► write, write, …
 *
 * The system's work and ours push each other out of the processor's caches: answered in a row, requests cost little more
 * than half. Several answers to one client are one write, and writes in a row find the other end awake.
 */
export class IoBatch {
  #readers: { read(): void }[] = [];
  #senders: { post(): void }[] = [];
  #isDue = false;
  #beganAt = 0;
  readonly #arrivalMs: () => number;
  #arrivedAt = 0;
  #isArrivalKnown = false;
  #timers: RequestTimer[] = [];
  #timedFrom: number[] = [];

  /** `arrivalMs` tells when bytes that are read now arrived. */
  constructor(arrivalMs: () => number = () => performance.now()) {
    this.#arrivalMs = arrivalMs;
  }

  /** When what is being read in this turn arrived. The clock is read once a turn, not once a request: it costs 50 ns. */
  get arrivedAt(): number {
    if (!this.#isArrivalKnown) {
      this.#arrivedAt = this.#arrivalMs();
      this.#isArrivalKnown = true;
    }
    return this.#arrivedAt;
  }

  /** Has a timer told how long a request took, after the responses of this turn are sent. */
  times(timer: RequestTimer, arrivedAt: number): void {
    this.#timers.push(timer);
    this.#timedFrom.push(arrivedAt);
    this.#wait();
  }

  /** Has a client's requests read. */
  reads(reader: { read(): void }): void {
    this.#readers.push(reader);
    this.#wait();
  }

  /** Has what is collected for a client sent. */
  sends(sender: { post(): void }): void {
    this.#senders.push(sender);
    this.#wait();
  }

  /** Whether others have waited long enough: timers, what has arrived since, and whoever is still in the row. */
  get isOver(): boolean {
    return performance.now() > this.#beganAt + READ_MS_MAX;
  }

  #wait(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    this.#beganAt = performance.now();
    this.#isArrivalKnown = false;
    const readers = this.#readers;
    this.#readers = [];
    let done = 0;
    while (done < readers.length) {
      readers[done++]!.read();
      if (done % CLIENTS_AT_ONCE === 0) this.#post();
      if (done % CLIENTS_A_LOOK === 0 && this.isOver) break;
    }
    this.#post();
    if (done < readers.length) this.#readers = [...readers.slice(done), ...this.#readers];
    this.#isDue = false;
    if (this.#readers.length > 0 || this.#senders.length > 0) this.#wait();
  };

  #post(): void {
    const senders = this.#senders;
    this.#senders = [];
    let done = 0;
    while (done < senders.length) {
      senders[done++]!.post();
      if (done % CLIENTS_A_LOOK === 0 && performance.now() > this.#beganAt + TURN_MS_MAX) break;
    }
    if (done < senders.length) this.#senders = [...senders.slice(done), ...this.#senders];
    if (this.#timers.length > 0) this.#time();
  }

  #time(): void {
    const timers = this.#timers;
    const from = this.#timedFrom;
    this.#timers = [];
    this.#timedFrom = [];
    const now = performance.now();
    for (let i = 0; i < timers.length; i++) timers[i]!.add(now - from[i]!);
  }
}
