import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline, type Readable } from 'node:stream';
import { crc32, createGunzip, createInflateRaw } from 'node:zlib';
import { directoryAt, END_BYTES_MAX, findEnd, type ZipEntry } from '../formats/zip.ts';

/** Bytes that can be streamed from the start any number of times. */
export interface ByteSource {
  /** `onRead` receives the number of bytes of the file read so far. */
  chunks(onRead?: (fileBytes: number) => void): AsyncIterable<Uint8Array>;
}

const CHUNK_BYTES = 256 * 1024;

export async function firstBytes(path: string, count: number): Promise<Uint8Array> {
  return readAt(path, 0, count);
}

export function inMemory(bytes: Uint8Array): ByteSource {
  return {
    async *chunks() {
      yield bytes;
    },
  };
}

export function plainFile(path: string): ByteSource {
  return { chunks: (onRead) => counted(createReadStream(path, { highWaterMark: CHUNK_BYTES }), 0, onRead) };
}

export function gzipFile(path: string): ByteSource {
  return {
    async *chunks(onRead) {
      const compressed = counted(createReadStream(path, { highWaterMark: CHUNK_BYTES }), 0, onRead);
      try {
        yield* pipeline(compressed, createGunzip(), () => {}) as Readable;
      } catch {
        throw new Error('the gzip file is incomplete or damaged');
      }
    },
  };
}

/** The files of a zip by name, without folders. */
export async function zipEntries(path: string): Promise<Map<string, ZipEntry>> {
  const size = await sizeOf(path);
  const tailAt = Math.max(0, size - END_BYTES_MAX);
  const tail = await readAt(path, tailAt, END_BYTES_MAX);
  const end = findEnd(tail, tailAt);
  const directory = await readAt(path, end.directoryAt, tailAt + end.at - end.directoryAt);
  const entries = directoryAt(directory, 0, end.count).filter(({ name }) => !name.endsWith('/'));
  return new Map(entries.map((entry) => [entry.name, entry]));
}

/** One file of a zip. Its checksum is verified at its end. */
export function zipEntry(path: string, entry: ZipEntry): ByteSource {
  return {
    async *chunks(onRead) {
      if (entry.packedBytes === 0) return; // an empty range cannot be read
      const start = entry.offset + (await localHeaderBytes(path, entry));
      const end = start + entry.packedBytes - 1;
      if (entry.method !== 0 && entry.method !== 8)
        throw new Error(`"${entry.name.slice(0, 60)}" in the zip file has an unknown compression method`);
      const file = createReadStream(path, { start, end, highWaterMark: CHUNK_BYTES });
      const compressed = counted(file, start, onRead);
      const unpacked =
        entry.method === 0 ? compressed : (pipeline(compressed, createInflateRaw(), () => {}) as Readable);
      let checksum = 0;
      try {
        for await (const chunk of unpacked) {
          checksum = crc32(chunk, checksum);
          yield chunk;
        }
      } catch {
        throw damaged(entry);
      }
      if (checksum !== entry.crc) throw damaged(entry);
    },
  };
}

async function localHeaderBytes(path: string, entry: ZipEntry): Promise<number> {
  const header = await readAt(path, entry.offset, 30);
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  if (header.length < 30 || view.getUint32(0, true) !== 0x04034b50) throw damaged(entry);
  return 30 + view.getUint16(26, true) + view.getUint16(28, true);
}

async function* counted(
  stream: AsyncIterable<Uint8Array>,
  from: number,
  onRead: ((fileBytes: number) => void) | undefined,
): AsyncGenerator<Uint8Array> {
  let read = from;
  for await (const chunk of stream) {
    read += chunk.length;
    onRead?.(read);
    yield chunk;
  }
}

async function readAt(path: string, position: number, length: number): Promise<Uint8Array> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.max(0, length)),
      0,
      Math.max(0, length),
      position,
    );
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function sizeOf(path: string): Promise<number> {
  return Bun.file(path).size;
}

function damaged({ name }: ZipEntry): Error {
  return new Error(`"${name.slice(0, 60)}" in the zip file is damaged`);
}
