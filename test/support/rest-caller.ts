import { Agent, type IncomingHttpHeaders, request } from "node:http";

import type { DescField, JsonObject, JsonValue } from "@bufbuild/protobuf";

import type { Route } from "../../gateway/contract/contract.js";
import { enumName } from "../../gateway/json/read-scalar.js";
import { textOf } from "../attack/fuzz/json-text.js";

/** A request as it goes on the wire: no client library makes it better than it is. */
export interface RestRequest {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string | Buffer | undefined;
}

export interface RestReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Empty when the body is none. */
  readonly json: JsonObject;
}

const ANSWER_MILLIS_MAX = 10_000;

/** Sends raw requests over connections that it keeps. */
export class RestCaller {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #address: string;

  constructor(address: string) {
    this.#address = address;
  }

  /** Rejects when the connection breaks, or no answer comes. */
  send({ method, path, headers = {}, body }: RestRequest): Promise<RestReply> {
    const own = body === undefined ? {} : { "content-type": "application/json", "content-length": bytesIn(body) };
    const options = { method, path, agent: this.#agent, headers: { ...own, ...headers } };
    return new Promise((resolve, reject) => {
      const req = request(`http://${this.#address}`, options, (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.once("error", reject);
        res.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          const json = text === "" ? {} : (JSON.parse(text) as JsonObject);
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json });
        });
      });
      req.once("error", reject);
      req.setTimeout(ANSWER_MILLIS_MAX, () => req.destroy(new Error("no answer came")));
      req.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

/**
 * The request that asks the route's rpc for what `message` says, in protobuf's JSON with enum
 * values as numbers.
 */
export function restRequest(route: Route, message: JsonObject): RestRequest {
  const inPath = new Set(route.pathFields.map(({ name }) => name));
  const rest = route.rpc.input.fields
    .filter(({ name }) => !inPath.has(name) && message[name] !== undefined)
    .map((field) => [field.name, restValue(field, message[field.name] ?? null)] as const);
  const path = pathOf(route, message);
  if (route.body.kind === "none") {
    const query = rest.map(([name, value]) => `${name}=${encodeURIComponent(textOf(value))}`).join("&");
    return { method: route.method, path: query === "" ? path : `${path}?${query}` };
  }
  return { method: route.method, path, body: JSON.stringify(Object.fromEntries(rest)) };
}

/** The route's path with the fields of the message in it. */
function pathOf(route: Route, message: JsonObject): string {
  const segments = route.path.segments.map(({ kind, name }) =>
    kind === "field" ? encodeURIComponent(textOf(message[name])) : name,
  );
  return `/${segments.join("/")}`;
}

/** A value as REST writes it: enum values by their short names. */
export function restValue(field: DescField, value: JsonValue): JsonValue {
  if (field.fieldKind !== "enum") return value;
  const named = field.enum.values.find(({ number }) => number === value);
  return named === undefined ? value : enumName(field.enum, named.name);
}

function bytesIn(body: string | Buffer): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.length;
}
