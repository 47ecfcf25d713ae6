import { readFileSync } from "node:fs";

import { CONTRACT_URL, readContract } from "../../../contract/contract.js";
import type { GatewayConfig } from "../../../gateway/config.js";
import { type Gateway, startGateway } from "../../../gateway/server.js";
import { type RestCall, RestCaller, type RestReply } from "../callers/rest-caller.js";
import { logInto, type LogLine } from "../service/log-lines.js";
import { FakeServer } from "./fake-server.js";

const contract = readContract(readFileSync(CONTRACT_URL));

/** A running gateway in front of a fake server, with real sockets on both sides. */
export class GatewayFixture {
  readonly server = new FakeServer(contract.registry);
  readonly logLines: LogLine[] = [];
  #gateway: Gateway | undefined;
  #rest: RestCaller | undefined;

  /** One that runs while the tests of a suite do. */
  static ofSuite(config: Partial<GatewayConfig> = {}): GatewayFixture {
    const fixture = new GatewayFixture();
    before(() => fixture.start(config));
    after(() => fixture.stop());
    return fixture;
  }

  async start(config: Partial<GatewayConfig> = {}): Promise<void> {
    await this.server.start();
    const log = logInto(this.logLines);
    this.#gateway = await startGateway({ ...this.#config(), ...config }, log);
    this.#rest = new RestCaller(this.#gateway.address);
  }

  async stop(): Promise<void> {
    this.#rest?.close();
    await this.#gateway?.stop();
    this.server.stop();
  }

  get gateway(): Gateway {
    if (this.#gateway === undefined) throw new Error("the gateway has not started");
    return this.#gateway;
  }

  send(method: string, path: string, call?: RestCall): Promise<RestReply> {
    if (this.#rest === undefined) throw new Error("the gateway has not started");
    return this.#rest.send(method, path, call);
  }

  #config(): Omit<GatewayConfig, "adminAddress"> {
    return {
      listen: { host: "127.0.0.1", port: 0 },
      target: this.server.target,
      heapGrowthPercent: undefined,
      logLevel: "info",
      bodyBytesMax: 4_096,
      bulkBytesMax: 8_192,
      connectionsMax: 1_000,
      requestsMax: 1_000,
      streamsMax: 1_000,
      callSecondsMax: 5,
      processes: 1,
      shutdownGraceSeconds: 5,
      publicUrl: "",
      hasDocs: true,
      tls: undefined,
      clientTls: undefined,
    };
  }
}
