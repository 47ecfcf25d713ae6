import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

import type { Request, Response } from "express";
import type { ComponentChildren } from "preact";
import { renderToString } from "preact-render-to-string";

import { SCRIPT } from "./assets/script.js";
import { STYLE } from "./assets/style.js";
import type { SessionCookie } from "./http/cookie.js";
import { stateOf } from "./http/request-state.js";
import type { Download } from "./page.js";
import type { ConsoleContract } from "./upstream/contract.js";
import type { Upstream } from "./upstream/upstream.js";
import { Document } from "./view/frame.js";
import { Link } from "./view/link.js";

/** What the pages need. */
export interface PageDependencies {
  readonly upstream: Upstream;
  readonly contract: Pick<ConsoleContract, "isOfOrganization" | "meaningOf" | "methodOf" | "registry">;
  /** The scheme, the name and the port by which browsers reach the console. */
  readonly origin: string;
  readonly cookie: SessionCookie;
}

const CSV = "text/csv; charset=utf-8; header=present";
// A browser keeps the style and the script for a year, under a name that changes with them.
const VERSION = createHash("sha256").update(STYLE).update(SCRIPT).digest("base64url").slice(0, 12);

/** Sends a whole page. */
export function send(res: Response, status: number, title: string, body: ComponentChildren): void {
  const page = (
    <Document title={title} version={VERSION}>
      {body}
    </Document>
  );
  res
    .status(status)
    .type("text/html")
    .send(`<!doctype html>${renderToString(page)}`);
}

/**
 * Sends a file as fast as the browser takes it. A read that fails ends the connection: the body
 * then lacks its last chunk, so nobody takes the file for a whole one.
 */
export async function sendFile(
  res: Response,
  { file, type = CSV, parts }: Pick<Download, "file" | "type" | "parts">,
): Promise<void> {
  res.type(type).set("Content-Disposition", `attachment; filename="${file}"`);
  await pipeline(Readable.from(parts, { highWaterMark: 1 }), res).catch(() => undefined);
}

/** The words of a page that shows nothing else. */
export function sendPlain(res: Response, status: number, words: string, advice = ""): void {
  send(
    res,
    status,
    words,
    <main class="card">
      <h1>{words}</h1>
      <p>{advice}</p>
      <p>
        <Link to="/">To the first page</Link>
      </p>
      <p class="advice">Request {stateOf(res).requestId}</p>
    </main>,
  );
}

/** Returns the fields of a form. The values of one that comes twice have commas between them. */
export function formOf(req: Request): Readonly<Record<string, string>> {
  const body: unknown = req.body;
  if (typeof body !== "object" || body === null) return {};
  return Object.fromEntries(Object.entries(body).map(([name, value]: [string, unknown]) => [name, String(value)]));
}
