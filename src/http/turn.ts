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
export class Turn {
  #readers: { read(): void }[] = [];
  #senders: { post(): void }[] = [];
  #isDue = false;
  #beganAt = 0;

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
  }
}
