import { decodeFields } from "./hpack.js";

/**
 * Tells from a header block how a call ended. The same server spells OK the same way each time, so
 * it is decoded once.
 */
export class StatusReader {
  #okField: Buffer | undefined;

  /**
   * Undefined when the block from `start` to `end` says OK, else the status and message in words.
   */
  problemIn(bytes: Buffer, start: number, end: number): string | undefined {
    if (this.#okField !== undefined) {
      const at = bytes.indexOf(this.#okField, start);
      if (at >= 0 && at + this.#okField.length <= end) return undefined;
    }
    return this.#decode(Buffer.from(bytes.subarray(start, end)));
  }

  #decode(block: Buffer): string | undefined {
    const fields = decodeFields(block);
    const status = fields.find(({ name }) => name === "grpc-status");
    if (status === undefined) return `no grpc-status in ${JSON.stringify(fields.map(({ name }) => name))}`;
    if (status.value !== "0") {
      const message = fields.find(({ name }) => name === "grpc-message")?.value ?? "";
      return `grpc-status ${status.value}: ${percentDecoded(message)}`;
    }
    this.#okField = block.subarray(status.start, status.end);
    return undefined;
  }
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
