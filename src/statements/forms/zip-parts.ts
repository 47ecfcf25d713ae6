import { strToU8, Zip, ZipDeflate, ZipPassThrough } from "fflate";

/** The time of every file: the same files make the same bytes. A ZIP has times from 1980 on. */
const TIME = new Date(1980, 0, 1);

/** A fast level: a sheet becomes a thirteenth. Level 6 takes 2.5 times as long for a sixth less. */
const LEVEL = 1;

/** Takes the next bytes of a file. */
type Push = (part: string | Uint8Array, isLast?: boolean) => void;

/** Writes a ZIP. Its memory does not grow with it if `taken` is called now and then. */
export class ZipParts {
  #written: Uint8Array[] = [];
  readonly #zip = new Zip((error, chunk) => {
    if (error !== null) throw error;
    this.#written.push(chunk);
  });

  /** Begins a file, after the end of the one before. One that is packed already is only stored. */
  add(name: string, { isPacked = false } = {}): Push {
    const entry = isPacked ? new ZipPassThrough(name) : new ZipDeflate(name, { level: LEVEL });
    entry.mtime = TIME;
    this.#zip.add(entry);
    return (part, isLast = false) => {
      entry.push(typeof part === "string" ? strToU8(part) : part, isLast);
    };
  }

  /** Ends the ZIP, after the end of its last file. */
  end(): void {
    this.#zip.end();
  }

  /** Returns what was written since the last call. It may be nothing. */
  taken(): Uint8Array {
    return Buffer.concat(this.#written.splice(0));
  }
}
