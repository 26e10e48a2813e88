/** So many clients are answered, and then sent their answers. The first must not wait for a thousand others. */
const CLIENTS_AT_ONCE = 64;

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

  #wait(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    setImmediate(this.#end);
  }

  readonly #end = (): void => {
    const readers = this.#readers;
    this.#readers = [];
    for (let i = 0; i < readers.length; i++) {
      readers[i]!.read();
      if (i % CLIENTS_AT_ONCE === CLIENTS_AT_ONCE - 1) this.#post();
    }
    this.#post();
    this.#isDue = false;
    if (this.#readers.length > 0) this.#wait();
  };

  #post(): void {
    const senders = this.#senders;
    this.#senders = [];
    for (const sender of senders) sender.post();
  }
}
