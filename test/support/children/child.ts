import { join } from 'node:path';

/** A program in another Bun process, controlled line by line. */
export class Child {
  readonly #process;
  readonly #lines: AsyncGenerator<string>;

  constructor(script: string, ...args: readonly string[]) {
    this.#process = Bun.spawn([process.execPath, join(import.meta.dir, script), ...args], {
      stdin: 'pipe',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#lines = linesOf(this.#process.stdout);
  }

  /** Waits for its next line, which must be this one. */
  async says(expected: string): Promise<void> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`the child ended: ${await new Response(this.#process.stderr).text()}`);
    if (value !== expected) throw new Error(`the child said "${value}" instead of "${expected}"`);
  }

  go(): void {
    this.#process.stdin.write('go\n');
    this.#process.stdin.flush();
  }

  get exited(): Promise<number> {
    return this.#process.exited;
  }
}

/** The lines of a stream of text, without their ends. */
export async function* linesOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
