import type { IncomingMessage } from "node:http";

const BODY_BYTES_MAX = 65_536;

/** Reads a JSON object. Undefined for any other body, and for one above 64 KiB. */
export async function jsonObjectOf(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // The rest is read and dropped, so that the caller gets an answer.
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
    }
    const body: unknown = bytes > BODY_BYTES_MAX ? undefined : JSON.parse(Buffer.concat(chunks).toString());
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
