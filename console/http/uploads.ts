import type { IncomingMessage } from "node:http";

/** The most bytes of a form with a file. The server takes statements of 4 MiB. */
const UPLOAD_BYTES_MAX = 4 * 1_024 * 1_024 + 64 * 1_024;

/** The form is larger than it may be. Express sends it as a 413. */
class TooLargeError extends Error {
  readonly status = 413;
}

/**
 * Reads the fields of a form of the type multipart/form-data, files as texts. Keeps the whole form
 * in memory, and never writes it to a disk or a log. Returns nothing for another type.
 *
 * Rejects with the status 413 once the form is too large.
 */
export async function uploadedForm(req: IncomingMessage): Promise<Readonly<Record<string, string>>> {
  const [, boundary] =
    /^multipart\/form-data; *boundary=([\w'()+,./:=?-]{1,70})$/i.exec(req.headers["content-type"] ?? "") ?? [];
  if (boundary === undefined) return {};
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > UPLOAD_BYTES_MAX) throw new TooLargeError("the form is too large");
    chunks.push(chunk);
  }
  // A line break before the first boundary makes all parts alike.
  const parts = `\r\n${Buffer.concat(chunks).toString("utf8")}`.split(`\r\n--${boundary}`).slice(1, -1);
  return Object.fromEntries(parts.flatMap((part) => fieldIn(part)));
}

function fieldIn(part: string): readonly (readonly [name: string, value: string])[] {
  const end = part.indexOf("\r\n\r\n");
  const [, name] =
    /^content-disposition: *form-data; *name="([a-z_]{1,64})"/im.exec(part.slice(0, Math.max(end, 0))) ?? [];
  return name === undefined ? [] : [[name, part.slice(end + 4)]];
}
