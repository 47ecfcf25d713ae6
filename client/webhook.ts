import { createHmac, timingSafeEqual } from "node:crypto";

import { type Message, messageOf } from "./decode.js";
import type { Event } from "./gen/messages.js";
import { ENUMS, type Field, MESSAGES } from "./gen/tables.js";
import { KescError } from "./kesc-error.js";

const SECONDS_MAX = 300;

/** A request that claims to be a delivery of the service. */
export interface Delivery {
  /** The secret of the endpoint. Several, while one takes the place of another. */
  readonly secret: string | readonly string[];
  /** Those of the request: `request.headers` of Node, or a `Headers`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>> | Headers;
  /** The body as it came. Parsed and written again it has other bytes, so another signature. */
  readonly body: string | Uint8Array;
}

/**
 * Returns the event of a webhook, in the form that `watchEvents` yields. Throws a KescError with
 * the code UNAUTHENTICATED if the service did not sign the request, or signed it more than five
 * minutes ago: then respond with 400, and do nothing.
 *
 * The same event may come twice. Store its id, and ignore it the second time.
 */
export function verifyWebhook({ secret, headers, body }: Delivery): Event {
  const [id, time, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) =>
    headerIn(headers, name),
  ) as [string, string, string];
  const secrets = typeof secret === "string" ? [secret] : secret;
  const keys = secrets.map((each) => Buffer.from(each.replace(/^whsec_/, ""), "base64"));
  // Anybody can sign with an empty secret.
  if (keys.some(({ length }) => length === 0)) throw new TypeError("secret must not be empty");
  const age = Math.abs(Date.now() / 1_000 - Number(time));
  if (!/^[0-9]+$/.test(time) || age >= SECONDS_MAX) throw notGenuine("is older than five minutes, or has no time");
  const isSigned = keys.some((key) => {
    const expected = createHmac("sha256", key).update(`${id}.${time}.`).update(body).digest();
    return signatures.split(" ").some((signature) => {
      const given = signature.startsWith("v1,") ? Buffer.from(signature.slice(3), "base64") : Buffer.alloc(0);
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  });
  if (!isSigned) throw notGenuine("has no signature of this secret");
  const { data } = JSON.parse(Buffer.from(body).toString("utf8")) as { readonly data: unknown };
  return fromJson("Event", data) as unknown as Event;
}

function headerIn(headers: Delivery["headers"], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === "string" ? value : "";
}

function notGenuine(problem: string): KescError {
  const message = `The request is not a webhook of the service: it ${problem}.`;
  return new KescError({ code: "UNAUTHENTICATED", message, facts: {}, fields: [] });
}

/** Reads the JSON of REST. There null stands for what is absent, and an amount is a number. */
export function fromJson(type: string, json: unknown): Message {
  const fields = MESSAGES[type] ?? [];
  const members = (typeof json === "object" ? json : undefined) as Message | null | undefined;
  return messageOf(fields, (field) => {
    const value = members?.[field.name];
    if (value === undefined || value === null) return undefined;
    if (field.holds === "map") return value;
    return field.holds === "list" ? (value as unknown[]).map((item) => oneOf(field, item)) : oneOf(field, value);
  });
}

function oneOf({ kind, type = "" }: Field, value: unknown): unknown {
  if (kind === "message") return fromJson(type, value);
  // Exact: an amount has at most 15 digits, and a double holds each number of 15 digits.
  if (kind === "decimal" && typeof value === "number") return value.toFixed(2);
  if (kind === "enum") return Object.hasOwn(ENUMS[type] ?? {}, String(value)) ? value : "unrecognized";
  return value;
}
