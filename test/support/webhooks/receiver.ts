import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { Webhook } from "standardwebhooks";

/** A delivery that a receiver got. */
export interface Received {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly json: {
    readonly type: string;
    readonly timestamp: string;
    readonly data: Readonly<Record<string, unknown>>;
  };
}

/** Answers one delivery. */
export type Answer = (response: ServerResponse, received: Received) => void;

/** A receiver of webhooks on a real socket, which notes every delivery. */
export class Receiver {
  readonly received: Received[] = [];
  /** Answers each delivery: with 204, unless a test says otherwise. */
  answer: Answer = (response) => response.writeHead(204).end();
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      void this.#take(request, response);
    });
  }

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await new Promise<void>((resolve) => receiver.#server.listen(0, "127.0.0.1", resolve));
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}/hooks`;
  }

  /** The sequences of the events, in the order of their arrival. */
  get sequences(): number[] {
    return this.received.map(({ json }) => Number(json.data["sequence"]));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString("utf8");
    const headers = request.headers as Record<string, string>;
    const received = { id: headers["webhook-id"] ?? "", headers, body, json: JSON.parse(body) as Received["json"] };
    this.received.push(received);
    this.answer(response, received);
  }
}

/** Throws if the signature is not that of the secret, as the library of the standard says. */
export function verifySignature({ body, headers }: Received, secret: string): void {
  new Webhook(secret).verify(body, headers);
}
