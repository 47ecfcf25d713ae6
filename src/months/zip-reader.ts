import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { pipeline } from "node:stream";
import { createInflateRaw } from "node:zlib";

/** The file is no pack, or a part of one. */
export class PackError extends Error {}

/** Signatures and sizes of the records of a ZIP (APPNOTE 4.3). */
const END = { signature: 0x06054b50, bytes: 22 } as const;
const ENTRY = { signature: 0x02014b50, bytes: 46 } as const;
const LOCAL = { signature: 0x04034b50, bytes: 30 } as const;
const DEFLATED = 8;
const DIRECTORY_BYTES_MAX = 64 * 1_024;

interface ZipEntry {
  readonly name: string;
  readonly isDeflated: boolean;
  readonly packedBytes: number;
  readonly at: number;
}

/** Reads the files of a pack, each as a stream. */
export class ZipReader {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  private constructor(path: string, file: FileHandle, entries: ReadonlyMap<string, ZipEntry>) {
    this.#path = path;
    this.#file = file;
    this.#entries = entries;
  }

  /** Rejects with a PackError if the file is no whole pack. */
  static async open(path: string): Promise<ZipReader> {
    const file = await open(path);
    try {
      return new ZipReader(path, file, await entriesOf(file));
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /** Rejects with a PackError if the pack lacks the file, or its bytes are no such stream. */
  async *parts(name: string): AsyncGenerator<Buffer, void, void> {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new PackError(`it has no file ${name}`);
    const head = await bytesAt(this.#file, entry.at, LOCAL.bytes);
    if (head.readUInt32LE(0) !== LOCAL.signature) throw new PackError(`its file ${name} begins at another place`);
    const start = entry.at + LOCAL.bytes + head.readUInt16LE(26) + head.readUInt16LE(28);
    if (entry.packedBytes === 0) return;
    const packed = createReadStream(this.#path, { start, end: start + entry.packedBytes - 1 });
    const read = entry.isDeflated ? pipeline(packed, createInflateRaw(), () => undefined) : packed;
    try {
      for await (const part of read) yield part as Buffer;
    } catch (error) {
      throw new PackError(`its file ${name} cannot be unpacked`, { cause: error });
    }
  }

  /** Reads a small file. */
  async text(name: string): Promise<string> {
    const parts: Buffer[] = [];
    for await (const part of this.parts(name)) parts.push(part);
    return Buffer.concat(parts).toString("utf8");
  }

  close(): Promise<void> {
    return this.#file.close();
  }
}

async function entriesOf(file: FileHandle): Promise<ReadonlyMap<string, ZipEntry>> {
  const { size } = await file.stat();
  const end = size < END.bytes ? Buffer.alloc(END.bytes) : await bytesAt(file, size - END.bytes, END.bytes);
  if (end.readUInt32LE(0) !== END.signature) throw new PackError("it is no ZIP, or is not whole");
  const [count, length, at] = [end.readUInt16LE(10), end.readUInt32LE(12), end.readUInt32LE(16)];
  if (length > DIRECTORY_BYTES_MAX || at + length > size) throw new PackError("it is no pack of a month");
  const directory = await bytesAt(file, at, length);
  const entries = new Map<string, ZipEntry>();
  for (let offset = 0, index = 0; index < count; index += 1) {
    if (offset + ENTRY.bytes > length || directory.readUInt32LE(offset) !== ENTRY.signature) {
      throw new PackError("its list of files is broken");
    }
    const nameBytes = directory.readUInt16LE(offset + 28);
    const name = directory.toString("utf8", offset + ENTRY.bytes, offset + ENTRY.bytes + nameBytes);
    if (entries.has(name)) throw new PackError(`it has the file ${name} twice`);
    entries.set(name, {
      name,
      isDeflated: directory.readUInt16LE(offset + 10) === DEFLATED,
      packedBytes: directory.readUInt32LE(offset + 20),
      at: directory.readUInt32LE(offset + 42),
    });
    offset += ENTRY.bytes + nameBytes + directory.readUInt16LE(offset + 30) + directory.readUInt16LE(offset + 32);
  }
  return entries;
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, position);
  if (bytesRead < length) throw new PackError("it is not whole");
  return buffer;
}
