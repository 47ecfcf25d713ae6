import type { IncomingMessage } from "node:http";

/** The most bytes of a form with a file. The server takes statements of 32 MiB. */
const UPLOAD_BYTES_MAX = 32 * 1_024 * 1_024 + 64 * 1_024;

/** The form is larger than it may be. Express sends it as a 413. */
class TooLargeError extends Error {
  readonly status = 413;
}

/** A file that a person has chosen. Its name is a text of that person. */
export interface UploadedFile {
  /** The field of the form. */
  readonly field: string;
  readonly name: string;
  readonly bytes: Buffer;
}

export interface UploadedForm {
  readonly form: Readonly<Record<string, string>>;
  /** In the order of the form. Without the fields in which no file was chosen. */
  readonly files: readonly UploadedFile[];
}

/**
 * Reads a form of the type multipart/form-data. Keeps the whole form in memory once, and never
 * writes it to a disk or a log. Returns nothing for another type.
 *
 * Rejects with the status 413 once the form is too large, and before its first byte if it says so.
 */
export async function uploadedForm(req: IncomingMessage): Promise<UploadedForm> {
  const [, boundary] =
    /^multipart\/form-data; *boundary=([\w'()+,./:=?-]{1,70})$/i.exec(req.headers["content-type"] ?? "") ?? [];
  if (boundary === undefined) return { form: {}, files: [] };
  if (Number(req.headers["content-length"] ?? 0) > UPLOAD_BYTES_MAX) throw new TooLargeError("the form is too large");
  // A line break before the first boundary makes all parts alike.
  const chunks: Buffer[] = [Buffer.from("\r\n")];
  let size = 0;
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > UPLOAD_BYTES_MAX) throw new TooLargeError("the form is too large");
    chunks.push(chunk);
  }
  return formIn(Buffer.concat(chunks.splice(0)), Buffer.from(`\r\n--${boundary}`));
}

function formIn(body: Buffer, separator: Buffer): UploadedForm {
  const form: Record<string, string> = {};
  const files: UploadedFile[] = [];
  let start = body.indexOf(separator);
  while (start !== -1) {
    const end = body.indexOf(separator, start + separator.length);
    if (end === -1) break;
    const part = body.subarray(start + separator.length, end);
    const headEnd = part.indexOf("\r\n\r\n");
    const head = part.toString("utf8", 0, Math.max(headEnd, 0));
    const [, name, , fileName] =
      /^content-disposition: *form-data; *name="([a-z0-9_]{1,64})"(; *filename="([^"\r\n]*)")?/im.exec(head) ?? [];
    const content = part.subarray(headEnd + 4);
    if (name !== undefined && fileName === undefined) form[name] = content.toString("utf8");
    // A browser sends a field without a file as an empty one without a name.
    else if (name !== undefined && fileName) files.push({ field: name, name: fileName, bytes: content });
    start = end;
  }
  return { form, files };
}
