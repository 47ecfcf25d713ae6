import { Agent, type IncomingHttpHeaders, request } from "node:http";

import { expectDetail } from "./style.js";

/** The parts of a request besides its method and its path. */
export interface RestCall {
  /**
   * A text or bytes are sent as they are, for bodies that JSON.stringify can't write, such as
   * 1000.00.
   */
  readonly body?: string | Buffer | object | undefined;
  /** In place of the caller's own API key; the empty text sends none. */
  readonly key?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

export interface RestReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The text of the body: tests look for amounts here, before a parser has rounded them. */
  readonly text: string;
  /** Empty when the body is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
}

const REPLY_MILLIS_MAX = 30_000;

/** Looks at each reply, and throws when it should not be so. */
export type CheckReply = (method: string, path: string, reply: RestReply) => void;

/** Sends requests as they are written, over connections that it keeps open. */
export class RestCaller {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #address: string;
  readonly #key: string;
  readonly #check: CheckReply;

  constructor(address: string, { key = "", check = () => undefined }: { key?: string; check?: CheckReply } = {}) {
    this.#address = address;
    this.#key = key;
    this.#check = check;
  }

  /** Rejects when the connection breaks, or when no reply comes in time. */
  async send(method: string, path: string, { body, key = this.#key, headers }: RestCall = {}): Promise<RestReply> {
    const bytes = typeof body === "object" && !Buffer.isBuffer(body) ? JSON.stringify(body) : body;
    const sent = {
      ...(key === "" ? {} : { "x-api-key": key }),
      ...(bytes === undefined
        ? {}
        : { "content-type": "application/json", "content-length": Buffer.byteLength(bytes) }),
      ...headers,
    };
    const reply = await this.#exchange({ method, path, headers: sent }, bytes);
    const json = reply.text.startsWith("{") ? (JSON.parse(reply.text) as RestReply["json"]) : {};
    // Every problem has this style, whatever else a test looks at.
    if (reply.text !== "" && reply.headers["content-type"] === "application/problem+json") {
      const { detail, errors } = json as { detail: string; errors?: { field: string; message: string }[] };
      expectDetail(detail, errors);
    }
    this.#check(method, path, { ...reply, json });
    return { ...reply, json };
  }

  close(): void {
    this.#agent.destroy();
  }

  #exchange(
    options: { method: string; path: string; headers: Record<string, string | number | string[]> },
    body: string | Buffer | undefined,
  ): Promise<Omit<RestReply, "json">> {
    return new Promise((resolve, reject) => {
      const req = request(`http://${this.#address}`, { ...options, agent: this.#agent }, (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.once("error", reject);
        res.once("end", () => {
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text: Buffer.concat(chunks).toString() });
        });
      });
      req.once("error", reject);
      req.setTimeout(REPLY_MILLIS_MAX, () => req.destroy(new Error("no reply came")));
      req.end(body);
    });
  }
}
