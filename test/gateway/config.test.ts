import { availableParallelism } from "node:os";

import { expect } from "chai";

import { readConfig } from "../../gateway/config.js";

describe("the gateway's configuration", () => {
  it("has a default for everything, and ignores variables that are not its own", () => {
    expect(readConfig({ HOME: "/root", KESC_DATABASE: "x", KESC_LOG_LEVEL: "" })).to.deep.equal({
      ok: true,
      config: {
        listen: { host: "127.0.0.1", port: 8080 },
        target: "127.0.0.1:50051",
        logLevel: "info",
        bodyBytesMax: 262_144,
        bulkBytesMax: 1_048_576,
        connectionsMax: 20_000,
        requestsMax: 2_000,
        callSecondsMax: 30,
        shutdownGraceSeconds: 20,
        processes: Math.max(1, Math.floor(availableParallelism() / 2)),
      },
    });
  });

  it("finds the server where the server listens, unless told otherwise", () => {
    const both = { KESC_GRPC_ADDRESS: "10.0.0.1:50051", KESC_GATEWAY_TARGET: "unix:/run/kesc.sock" };
    expect(targetOf({ KESC_GRPC_ADDRESS: "10.0.0.1:50051" })).to.equal("10.0.0.1:50051");
    expect(targetOf(both)).to.equal("unix:/run/kesc.sock");
  });

  it("takes an IPv6 address in brackets", () => {
    const result = readConfig({ KESC_HTTP_ADDRESS: "[::1]:80" });
    expect(result.ok && result.config.listen).to.deep.equal({ host: "::1", port: 80 });
  });

  for (const [variable, text, problem] of [
    ["KESC_HTTP_ADDRESS", "8080", "must be host:port, such as 127.0.0.1:8080"],
    ["KESC_HTTP_ADDRESS", "localhost:65536", "must be host:port, such as 127.0.0.1:8080"],
    ["KESC_GATEWAY_TARGET", "unix:", "must be host:port or unix:path, such as 127.0.0.1:50051"],
    ["KESC_GRPC_ADDRESS", "somewhere", "must be host:port or unix:path, such as 127.0.0.1:50051"],
    ["KESC_LOG_LEVEL", "loud", "must be one of trace, debug, info, warn, error, fatal, silent"],
    ["KESC_HTTP_BODY_BYTES_MAX", "1e5", "must be a whole number from 1024 to 16777216"],
    ["KESC_HTTP_BODY_BYTES_MAX", "1", "must be a whole number from 1024 to 16777216"],
    ["KESC_CALL_SECONDS_MAX", "0", "must be a whole number from 1 to 3600"],
    ["KESC_GATEWAY_PROCESSES", "0", "must be a whole number from 1 to 256"],
    ["KESC_SHUTDOWN_GRACE_SECONDS", "-1", "must be a whole number from 0 to 3600"],
  ] as const) {
    it(`refuses ${variable}=${text}`, () => {
      expect(readConfig({ [variable]: text })).to.deep.equal({ ok: false, problems: [`${variable} ${problem}.`] });
    });
  }

  it("names every wrong variable at once", () => {
    const result = readConfig({ KESC_HTTP_ADDRESS: "x", KESC_LOG_LEVEL: "x", KESC_CALL_SECONDS_MAX: "x" });
    expect(result.ok ? [] : result.problems).to.have.lengthOf(3);
  });
});

function targetOf(environment: Record<string, string>): string | undefined {
  const result = readConfig(environment);
  return result.ok ? result.config.target : undefined;
}
