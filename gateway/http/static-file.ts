import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import type { Request, Response } from "express";

import { sendStatic } from "./response.js";

/** A body that is the same for everybody. It is in memory. */
export interface StaticFile {
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The compressed body; undefined if the body is too small to gain from it. */
  readonly zipped: (() => Promise<Buffer>) | undefined;
  readonly etag: string;
}

const BYTES_TO_ZIP_MIN = 2_048;
const compress = promisify(gzip);

export function staticFile(contentType: string, contentSecurityPolicy: string, content: string | Buffer): StaticFile {
  const body = Buffer.from(content);
  // Weak, because the compressed body has the same one.
  const etag = `W/"${createHash("sha256").update(body).digest("base64url").slice(0, 22)}"`;
  let zipping: Promise<Buffer> | undefined;
  return {
    contentType,
    // A browser may keep the file, but asks each time whether it is still the same.
    headers: { "Cache-Control": "no-cache", "Content-Security-Policy": contentSecurityPolicy, ETag: etag },
    body,
    // At the first request, on a thread of its own, and once.
    zipped: body.length < BYTES_TO_ZIP_MIN ? undefined : () => (zipping ??= compress(body)),
    etag,
  };
}

/** Sends the file, or 304 if the client has it. `vary` names the headers that have chosen it. */
export async function sendFile(file: StaticFile, vary: readonly string[], req: Request, res: Response): Promise<void> {
  const headers = { ...file.headers, Vary: [...vary, "Accept-Encoding"].join(", ") };
  if (hasSame(req.headers["if-none-match"], file.etag)) {
    sendStatic(res, { status: 304, headers, body: "" });
    return;
  }
  const zipped = req.acceptsEncodings("gzip") === "gzip" ? await file.zipped?.() : undefined;
  sendStatic(res, {
    status: 200,
    headers: zipped === undefined ? headers : { ...headers, "Content-Encoding": "gzip" },
    body: zipped ?? file.body,
    contentType: file.contentType,
  });
}

function hasSame(ifNoneMatch: string | undefined, etag: string): boolean {
  return ifNoneMatch?.split(",").some((known) => known.trim() === etag) ?? false;
}
