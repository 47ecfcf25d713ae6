import type { IncomingMessage } from "node:http";

import { type Json, parseJson } from "../../contract/json/parse-json.js";
import { bodyTooLarge, malformedBody, type Problem, unsupportedMediaType } from "../problems/problem.js";

/** The body as JSON, or the problem of the whole body. */
export type BodyResult = { readonly ok: true; readonly json: Json } | BodyProblem;
/** The bytes of the body, and the type that the headers name. */
export type RawBodyResult =
  { readonly ok: true; readonly bytes: Uint8Array; readonly contentType: string } | BodyProblem;
interface BodyProblem {
  readonly ok: false;
  readonly problem: Problem;
}

const JSON_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i;

const NOT_JSON = "The body must be application/json in UTF-8. Send Content-Type: application/json.";
const COMPRESSED = "The body must not be compressed.";
const NOT_UTF_8 = "The body is not valid UTF-8.";
/** Smaller bodies are parsed as soon as they arrive. */
const BYTES_WITHOUT_TURN_MAX = 4_096;
const UTF_8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Reads the body of a request. A large body is parsed when `turnFor` resolves. No body means an
 * empty object, unless the headers name a type other than JSON.
 *
 * Refuses, in this order: UNSUPPORTED_MEDIA_TYPE, BODY_TOO_LARGE, MALFORMED_BODY. Never rejects:
 * the body of a client that disconnects is a MALFORMED_BODY.
 */
export async function readBody(
  req: IncomingMessage,
  { bytesMax, turnFor }: { bytesMax: number; turnFor: (bytes: number) => Promise<void> },
): Promise<BodyResult> {
  if (isCompressed(req)) return { ok: false, problem: unsupportedMediaType(COMPRESSED) };
  const type = req.headers["content-type"];
  if (type !== undefined && !JSON_TYPE.test(type)) return { ok: false, problem: unsupportedMediaType(NOT_JSON) };

  const bytes = await readBytes(req, bytesMax);
  if (typeof bytes === "string") return cutShort(bytes, bytesMax);
  if (bytes.length === 0) return { ok: true, json: {} };
  if (type === undefined) return { ok: false, problem: unsupportedMediaType(NOT_JSON) };
  // The parser holds the event loop for some 100 ms a megabyte.
  if (bytes.length > BYTES_WITHOUT_TURN_MAX) await turnFor(bytes.length);
  return parseBytes(bytes);
}

/**
 * Reads a body of any type, as it comes. Refuses and never rejects, as `readBody` does, but for the
 * type of the body.
 */
export async function readRawBody(req: IncomingMessage, bytesMax: number): Promise<RawBodyResult> {
  if (isCompressed(req)) return { ok: false, problem: unsupportedMediaType(COMPRESSED) };
  const bytes = await readBytes(req, bytesMax);
  if (typeof bytes === "string") return cutShort(bytes, bytesMax);
  return { ok: true, bytes, contentType: req.headers["content-type"] ?? "" };
}

/** A compressed body of the allowed size could expand to a thousand times as many bytes. */
function isCompressed({ headers }: IncomingMessage): boolean {
  const encoding = headers["content-encoding"] ?? "identity";
  const transfer = headers["transfer-encoding"] ?? "chunked";
  return encoding.toLowerCase() !== "identity" || transfer.toLowerCase() !== "chunked";
}

function cutShort(how: "too large" | "cut off", bytesMax: number): BodyProblem {
  return {
    ok: false,
    problem: how === "too large" ? bodyTooLarge(bytesMax) : malformedBody("The body is incomplete."),
  };
}

function parseBytes(bytes: Uint8Array): BodyResult {
  let text: string;
  try {
    text = UTF_8.decode(bytes);
  } catch {
    return { ok: false, problem: malformedBody(NOT_UTF_8) };
  }
  const json = parseJson(text);
  return json.ok ? { ok: true, json: json.value } : { ok: false, problem: malformedBody(`The body ${json.problem}.`) };
}

/**
 * Collects the body. Resolves at once when it is too large. The bytes that still arrive are
 * discarded, until the server's `requestTimeout`.
 */
function readBytes(req: IncomingMessage, bytesMax: number): Promise<Uint8Array | "too large" | "cut off"> {
  if (Number(req.headers["content-length"] ?? 0) > bytesMax) return Promise.resolve("too large");
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const take = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= bytesMax) {
        chunks.push(chunk);
        return;
      }
      req.off("data", take);
      req.resume();
      resolve("too large");
    };
    req.on("data", take);
    req.once("end", () => {
      resolve(Buffer.concat(chunks));
    });
    req.once("error", () => {
      resolve("cut off");
    });
    req.once("close", () => {
      resolve("cut off");
    });
  });
}
