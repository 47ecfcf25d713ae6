import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";

/** A request that the stub received. */
export interface Received {
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

export type Respond = (response: ServerResponse, received: Received) => void;

/** Answers with a status and a body, as JSON unless it is a text. */
export function answering(httpStatus: number, body: unknown): Respond {
  return (response) => {
    response.writeHead(httpStatus, { "content-type": "application/json" });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

/** Destroys the connection after the request came in. */
export const resetting: Respond = (response) => {
  response.socket?.resetAndDestroy();
};

/** Never answers. */
export const silent: Respond = () => undefined;

/** An access token that is valid for an hour. */
export const TOKEN = { access_token: "the-token-of-the-stub", expires_in: "3599" };

const TOKEN_PATH = "/oauth/v1/generate";

/**
 * A server that answers as a test says, for what the simulator of Daraja does not show: broken
 * answers and broken connections. It grants a token unless the test says otherwise.
 */
export class StubServer {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #respond: Respond;

  private constructor(respond: Respond, secure: { key: Buffer; cert: Buffer } | undefined) {
    this.#respond = respond;
    const listener: RequestListener = (request, response) => {
      void this.#serve(request, response);
    };
    this.#server = secure === undefined ? createServer(listener) : createTlsServer(secure, listener);
  }

  static async start(respond: Respond, secure?: { key: Buffer; cert: Buffer }): Promise<StubServer> {
    const stub = new StubServer(respond, secure);
    await new Promise<void>((resolve) => {
      stub.#server.listen(0, "127.0.0.1", resolve);
    });
    return stub;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.port)}`;
  }

  /** The requests for anything but a token. */
  get orders(): readonly Received[] {
    return this.received.filter(({ path }) => !path.startsWith(TOKEN_PATH));
  }

  get tokensRequested(): number {
    return this.received.length - this.orders.length;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const body = (text === "" ? {} : JSON.parse(text)) as Received["body"];
    const received = { path: request.url ?? "", headers: request.headers, body };
    this.received.push(received);
    this.#respond(response, received);
  }
}

/** Grants a token, and answers the n-th order by the n-th of `responds`, then by the last. */
export function afterToken(...responds: readonly Respond[]): Respond {
  let orders = 0;
  return (response, received) => {
    if (received.path.startsWith(TOKEN_PATH)) {
      answering(200, TOKEN)(response, received);
      return;
    }
    const respond = responds[Math.min(orders, responds.length - 1)];
    orders += 1;
    respond?.(response, received);
  };
}
