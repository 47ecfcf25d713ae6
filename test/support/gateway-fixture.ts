import { readFileSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";

import { pino } from "pino";

import type { GatewayConfig } from "../../gateway/config.js";
import { CONTRACT_URL, readContract } from "../../gateway/contract/contract.js";
import { type Gateway, startGateway } from "../../gateway/server.js";
import { FakeServer } from "./fake-server.js";

const contract = readContract(readFileSync(CONTRACT_URL));

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface HttpRequest {
  /** The body, and unless the headers say otherwise, that it is JSON. */
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string | string[]>>;
}

/** A running gateway before a fake server, with real sockets on both sides. */
export class GatewayFixture {
  readonly server = new FakeServer(contract.registry);
  readonly logLines: Record<string, unknown>[] = [];
  #gateway: Gateway | undefined;

  async start(config: Partial<GatewayConfig> = {}): Promise<void> {
    await this.server.start();
    const log = pino(
      { base: null },
      { write: (line) => this.logLines.push(JSON.parse(line) as Record<string, unknown>) },
    );
    this.#gateway = await startGateway({ ...this.#config(), ...config }, log);
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop();
    this.server.stop();
  }

  get gateway(): Gateway {
    if (this.#gateway === undefined) throw new Error("the gateway has not started");
    return this.#gateway;
  }

  /** Sends a request as it is written: no client library comes between. */
  send(method: string, path: string, { body, headers = {} }: HttpRequest = {}): Promise<HttpAnswer> {
    const type =
      body === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const url = `http://${this.gateway.address}`;
    return new Promise((resolve, reject) => {
      const req = request(url, { method, path, headers: { ...type, ...headers } }, (res) => {
        const chunks: Buffer[] = [];
        res.on("data", (chunk: Buffer) => chunks.push(chunk));
        res.once("error", reject);
        res.once("end", () => {
          const text = Buffer.concat(chunks).toString();
          const json = text.startsWith("{") ? (JSON.parse(text) as HttpAnswer["json"]) : {};
          resolve({ status: res.statusCode ?? 0, headers: res.headers, text, json });
        });
      });
      req.once("error", reject);
      req.end(body);
    });
  }

  #config(): Omit<GatewayConfig, "processes"> {
    return {
      listen: { host: "127.0.0.1", port: 0 },
      target: this.server.target,
      logLevel: "info",
      bodyBytesMax: 4_096,
      bulkBytesMax: 8_192,
      connectionsMax: 1_000,
      requestsMax: 1_000,
      callSecondsMax: 5,
      shutdownGraceSeconds: 5,
    };
  }
}
