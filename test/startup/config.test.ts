import { expect } from "chai";

import { readConfig } from "../../src/startup/config.js";
import { AllowedHosts } from "../../src/webhooks/allowed.js";
import { configOf } from "../support/config.js";

describe("config", () => {
  it("has a default for everything", () => {
    expect(configOf({})).to.deep.equal({
      database: { engine: "sqlite", filename: "./data/kesc.db", masterKeyFile: "./keys/master.key" },
      grpcAddress: "127.0.0.1:50051",
      adminAddress: undefined,
      operatorAddress: undefined,
      operatorServer: undefined,
      consoleOrigin: "http://localhost:8081",
      fourEyes: new Set([
        "operators",
        "resume",
        "write_keys",
        "limits",
        "rails",
        "erase",
        "unfreeze",
        "reserve",
        "payouts",
      ]),
      gatewayTarget: undefined,
      batchMax: 256,
      queueMax: 10_000,
      payerMillis: 90 * 86_400_000,
      phoneCoolingMillis: 86_400_000,
      destinationCoolingMillis: 86_400_000,
      callbacks: undefined,
      railHosts: [],
      webhookHosts: new AllowedHosts([]),
      seals: { keyFile: "./keys/seal.key", origin: "kesc" },
      shutdownGraceSeconds: 20,
      heapGrowthPercent: undefined,
      logLevel: "info",
      tls: undefined,
      clientTls: undefined,
      isInsecure: false,
      grpcLimits: {
        requestBytesMax: 262_144,
        bulkBytesMax: 1_048_576,
        requestMillisMax: 10_000,
        callMillisMax: 30_000,
        concurrentCallsMax: 1_000,
        callsMax: 50_000,
        keepaliveMillis: 60_000,
        keepaliveTimeoutMillis: 10_000,
        connectionIdleMillisMax: 300_000,
        connectionAgeMillisMax: 1_800_000,
        connectionAgeGraceMillis: 60_000,
        lameDuckMillis: 0,
        openCallsMax: 10_000,
        publicCallsMax: 256,
        callsPerSecond: 1_000,
        listsPerSecond: 100,
        rateBurstSeconds: 30,
      },
    });
  });

  for (const [name, environment, expected] of [
    [
      "a file of SQLite",
      { DATABASE_URL: "sqlite:/var/lib/kesc.db", KESC_MASTER_KEY_FILE: "/etc/kesc/master.key" },
      { engine: "sqlite", filename: "/var/lib/kesc.db", masterKeyFile: "/etc/kesc/master.key" },
    ],
    [
      "a server of PostgreSQL, with the most connections to it",
      { DATABASE_URL: "postgres://a:b@h:1/d", KESC_DATABASE_CONNECTIONS_MAX: "3" },
      { engine: "postgres", url: "postgres://a:b@h:1/d", connectionsMax: 3, masterKeyFile: "./keys/master.key" },
    ],
    [
      "the longer name of PostgreSQL",
      { DATABASE_URL: "postgresql://h/d" },
      { engine: "postgres", url: "postgresql://h/d", connectionsMax: 10, masterKeyFile: "./keys/master.key" },
    ],
  ] as const) {
    it(`reads ${name}`, () => {
      expect(configOf(environment).database).to.deep.equal(expected);
    });
  }

  it("reads seconds into milliseconds", () => {
    const { grpcLimits } = configOf({ KESC_CALL_SECONDS_MAX: "7", KESC_GRPC_LAME_DUCK_SECONDS: "3" });
    expect(grpcLimits).to.deep.equal({ ...configOf().grpcLimits, callMillisMax: 7_000, lameDuckMillis: 3_000 });
  });

  it("says which variables are wrong, those of the gateway too", () => {
    const result = readConfig({ KESC_BATCH_MAX: "x", KESC_HTTP_ADDRESS: "x", KESC_COLOUR_OF_THE_SKY: "blue" });
    expect(result.ok ? [] : result.problems).to.have.lengthOf(3);
  });
});
