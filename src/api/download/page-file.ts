import { type FileHandle, mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';

const READ_BYTES = 64 * 1024;

/**
 * Spools the pages of a table to disk until they are sent, because the table may be long and the client slow. The file is
 * unlinked right after it is opened, so no other process can open it and it disappears with this one.
 */
export class PageFile {
  readonly #file: FileHandle;
  #length = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async open(dir: string): Promise<PageFile> {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    const path = join(dir, crypto.randomUUID());
    const file = await open(path, 'wx+', 0o600);
    await unlink(path);
    return new PageFile(file);
  }

  async add(page: Uint8Array): Promise<void> {
    for (let at = 0; at < page.length; ) {
      const { bytesWritten } = await this.#file.write(page, at, page.length - at, this.#length);
      at += bytesWritten;
      this.#length += bytesWritten;
    }
  }

  get length(): number {
    return this.#length;
  }

  /** Discards all pages. */
  clear(): void {
    this.#length = 0;
  }

  /** The bytes from `start` to `end`, by default all of them. */
  async *text(start = 0, end = this.#length): AsyncGenerator<Uint8Array> {
    for (let at = start; at < end; ) {
      const { buffer, bytesRead } = await this.#file.read({
        buffer: Buffer.allocUnsafe(Math.min(READ_BYTES, end - at)),
        position: at,
      });
      if (bytesRead === 0) throw new Error('a page file is shorter than the data written to it');
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
