import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

import { credentials } from "@grpc/grpc-js";

import { readContract } from "../../../contract/contract.js";
import { createApp } from "../../../gateway/app.js";
import { OpenStreams } from "../../../gateway/http/open-streams.js";
import { ServerConnections } from "../../../gateway/upstream/connections.js";
import { createUpstream, type Upstream } from "../../../gateway/upstream/upstream.js";
import { logInto, type LogLine } from "../service/log-lines.js";
import { FakeServer } from "./fake-server.js";
import { type ToyRpc, toysContract } from "./toys-contract.js";

/** The REST API of a contract of toys, in front of a fake server. */
export class ToysGateway {
  readonly #contract;
  readonly server: FakeServer;
  readonly logLines: LogLine[] = [];
  #upstream: Upstream | undefined;
  #http: Server | undefined;

  constructor(rpcs?: readonly ToyRpc[]) {
    this.#contract = readContract(toysContract(rpcs));
    this.server = new FakeServer(this.#contract.registry);
  }

  /** One that runs while the tests of a suite do. */
  static ofSuite(rpcs?: readonly ToyRpc[]): ToysGateway {
    const gateway = new ToysGateway(rpcs);
    before(() => gateway.start());
    after(() => gateway.stop());
    return gateway;
  }

  async start(): Promise<void> {
    await this.server.start();
    this.#upstream = createUpstream(this.#contract.registry, {
      channel: new ServerConnections({ target: this.server.target, credentials: credentials.createInsecure() }),
      bulkBytesMax: 4_096,
    });
    const log = logInto(this.logLines);
    const app = createApp(
      {
        contract: this.#contract,
        upstream: this.#upstream,
        log,
        streams: new OpenStreams(10),
        pages: new Map(),
        isStopping: () => false,
      },
      { bodyBytesMax: 4_096, bulkBytesMax: 4_096, requestsMax: 10, callMillisMax: 5_000 },
    );
    this.#http = createServer(app).listen(0, "127.0.0.1");
    await once(this.#http, "listening");
  }

  async stop(): Promise<void> {
    if (this.#http !== undefined) {
      this.#http.closeAllConnections();
      this.#http.close();
      await once(this.#http, "close");
    }
    this.#upstream?.close();
    this.server.stop();
  }

  /** The address, such as "127.0.0.1:8080". */
  get address(): string {
    return `127.0.0.1:${String((this.#http?.address() as AddressInfo).port)}`;
  }

  fetch(path: string, init?: RequestInit): Promise<Response> {
    return fetch(`http://${this.address}${path}`, init);
  }
}
