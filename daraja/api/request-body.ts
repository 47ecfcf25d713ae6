import type { IncomingMessage } from "node:http";

const BODY_BYTES_MAX = 65_536;

/** Reads a JSON object. Undefined for any other body, and for one above 64 KiB. */
export async function jsonObjectOf(request: IncomingMessage): Promise<Record<string, unknown> | undefined> {
  try {
    const body: unknown = JSON.parse((await textOf(request)) ?? "");
    return typeof body === "object" && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** Reads the fields of an HTML form. Undefined for a body above 64 KiB. */
export async function formOf(request: IncomingMessage): Promise<Record<string, string> | undefined> {
  const text = await textOf(request);
  return text === undefined ? undefined : Object.fromEntries(new URLSearchParams(text));
}

/** Undefined for a body above 64 KiB, and for one that breaks off. */
async function textOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      // The rest is read and dropped, so that the caller gets an answer.
      if (bytes <= BODY_BYTES_MAX) chunks.push(chunk);
    }
  } catch {
    return undefined;
  }
  return bytes > BODY_BYTES_MAX ? undefined : Buffer.concat(chunks).toString();
}
