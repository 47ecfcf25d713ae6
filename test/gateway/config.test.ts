import { availableParallelism } from "node:os";

import { expect } from "chai";

import { readConfig } from "../../gateway/config.js";

describe("the gateway's configuration", () => {
  it("has a default for everything", () => {
    expect(readConfig({})).to.deep.equal({
      ok: true,
      config: {
        listen: { host: "127.0.0.1", port: 8080 },
        adminAddress: undefined,
        target: "127.0.0.1:50051",
        heapGrowthPercent: undefined,
        logLevel: "info",
        bodyBytesMax: 262_144,
        bulkBytesMax: 1_048_576,
        connectionsMax: 20_000,
        requestsMax: 2_000,
        streamsMax: 1_000,
        callSecondsMax: 30,
        shutdownGraceSeconds: 20,
        publicUrl: "",
        hasDocs: true,
        tls: undefined,
        clientTls: undefined,
        processes: Math.max(1, Math.floor(availableParallelism() / 2)),
      },
    });
  });

  it("finds the server where the server listens, unless told otherwise", () => {
    const both = { KESC_GRPC_ADDRESS: "10.0.0.1:50051", KESC_GATEWAY_TARGET: "unix:/run/kesc.sock" };
    expect(targetOf({ KESC_GRPC_ADDRESS: "127.0.0.2:50051" })).to.equal("127.0.0.2:50051");
    expect(targetOf(both)).to.equal("unix:/run/kesc.sock");
  });

  it("beside the server in one process has one thread, and needs no CA to trust it by", () => {
    const tls = { KESC_TLS_CERT_FILE: "a.crt", KESC_TLS_KEY_FILE: "a.key" };
    expect(readConfig(tls)).to.have.property("ok", false);
    expect(readConfig(tls, { isBesideServer: true })).to.have.nested.property("config.processes", 1);
    expect(readConfig({ ...tls, KESC_GATEWAY_TARGET: "10.0.0.1:1" }, { isBesideServer: true })).to.have.property(
      "ok",
      false,
    );
  });

  it("says which variables are wrong, those of the server too", () => {
    const result = readConfig({ KESC_HTTP_ADDRESS: "x", KESC_BATCH_MAX: "x", KESC_COLOUR_OF_THE_SKY: "blue" });
    expect(result.ok ? [] : result.problems).to.have.lengthOf(3);
  });
});

function targetOf(environment: Record<string, string>): string | undefined {
  const result = readConfig(environment);
  return result.ok ? result.config.target : undefined;
}
