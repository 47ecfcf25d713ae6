import { expect } from "chai";

import { clientExposure, gatewayExposure, serverExposure } from "../../../runtime/transport/exposure.js";
import { readVariables, type Values } from "../../../runtime/variables.js";

function valuesOf(environment: Readonly<Record<string, string>>): Values {
  const result = readVariables(environment);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.values;
}

const TLS = { KESC_TLS_CERT_FILE: "cert.pem", KESC_TLS_KEY_FILE: "key.pem" };
const CA = { KESC_GATEWAY_CA_FILE: "ca.pem" };
const INSECURE = { KESC_INSECURE: "true" };

/** The first word of each problem, which is the name of a variable. */
function namesIn(problems: readonly string[]): (string | undefined)[] {
  return problems.map((problem) => problem.split(" ")[0]);
}

describe("an address beyond the loopback", () => {
  for (const host of ["127.0.0.1", "127.1.2.3", "[::1]", "localhost", "[::ffff:127.0.0.1]"]) {
    it(`is not ${host}`, () => {
      const values = valuesOf({ KESC_GRPC_ADDRESS: `${host}:1`, KESC_HTTP_ADDRESS: `${host}:2` });
      expect([...serverExposure(values), ...gatewayExposure(values)]).to.deep.equal([]);
    });
  }

  it("is no Unix socket", () => {
    const values = valuesOf({ KESC_GRPC_ADDRESS: "unix:/run/kesc.sock" });
    expect([...serverExposure(values), ...gatewayExposure(values)]).to.deep.equal([]);
  });

  it("is refused for metrics even with TLS, because they ask for no key", () => {
    const addresses = { KESC_ADMIN_ADDRESS: "0.0.0.0:1", KESC_HTTP_ADMIN_ADDRESS: "[::]:2" };
    const values = valuesOf({ ...addresses, ...TLS, ...CA });
    expect(namesIn(serverExposure(values))).to.deep.equal(["KESC_ADMIN_ADDRESS"]);
    expect(namesIn(gatewayExposure(values))).to.deep.equal(["KESC_HTTP_ADMIN_ADDRESS"]);
    const insecure = valuesOf({ ...addresses, ...INSECURE });
    expect([...serverExposure(insecure), ...gatewayExposure(insecure)]).to.deep.equal([]);
    const loopback = valuesOf({ KESC_ADMIN_ADDRESS: "127.0.0.1:1", KESC_HTTP_ADMIN_ADDRESS: "[::1]:2" });
    expect([...serverExposure(loopback), ...gatewayExposure(loopback)]).to.deep.equal([]);
  });

  for (const host of ["0.0.0.0", "[::]", "10.0.0.1", "[fe80::1]", "kesc.example.com", "127.0.0.1.example.com"]) {
    it(`is ${host}: each program refuses it without TLS`, () => {
      const grpc = { KESC_GRPC_ADDRESS: `${host}:1` };
      expect(namesIn(serverExposure(valuesOf(grpc)))).to.deep.equal(["KESC_GRPC_ADDRESS"]);
      expect(namesIn(gatewayExposure(valuesOf(grpc)))).to.deep.equal(["KESC_GRPC_ADDRESS"]);
      const http = { KESC_HTTP_ADDRESS: `${host}:1` };
      expect(serverExposure(valuesOf(http))).to.deep.equal([]);
      expect(namesIn(gatewayExposure(valuesOf(http)))).to.deep.equal(["KESC_HTTP_ADDRESS"]);
      const target = { KESC_GATEWAY_TARGET: `${host}:1` };
      expect(serverExposure(valuesOf(target))).to.deep.equal([]);
      expect(namesIn(gatewayExposure(valuesOf(target)))).to.deep.equal(["KESC_GATEWAY_TARGET"]);
    });
  }

  const everywhere = { KESC_GRPC_ADDRESS: "0.0.0.0:1", KESC_HTTP_ADDRESS: "0.0.0.0:2" };
  for (const [what, environment] of [
    ["TLS, with the CA for the gateway", { ...everywhere, ...TLS, ...CA }],
    ["KESC_INSECURE=true", { ...everywhere, ...INSECURE }],
  ] as const) {
    it(`is allowed with ${what}`, () => {
      const values = valuesOf(environment);
      expect([...serverExposure(values), ...gatewayExposure(values)]).to.deep.equal([]);
    });
  }

  it("says what to set", () => {
    expect(serverExposure(valuesOf({ KESC_GRPC_ADDRESS: "0.0.0.0:50051" }))).to.deep.equal([
      "KESC_GRPC_ADDRESS is 0.0.0.0:50051, which other machines can reach, but TLS is off. " +
        "Set KESC_TLS_CERT_FILE and KESC_TLS_KEY_FILE. If something else protects the network, set KESC_INSECURE=true.",
    ]);
  });
});

describe("TLS of the server", () => {
  it("needs a CA at the gateway that calls the same address, KESC_INSECURE or not", () => {
    for (const environment of [TLS, { ...TLS, ...INSECURE }]) {
      expect(namesIn(gatewayExposure(valuesOf(environment)))).to.deep.equal(["KESC_TLS_CERT_FILE"]);
    }
  });

  it("needs none on a Unix socket, or for a gateway that names its own target", () => {
    expect(gatewayExposure(valuesOf({ ...TLS, KESC_GRPC_ADDRESS: "unix:/run/kesc.sock" }))).to.deep.equal([]);
    expect(gatewayExposure(valuesOf({ ...TLS, KESC_GATEWAY_TARGET: "127.0.0.1:1" }))).to.deep.equal([]);
  });
});

describe("a client of the server", () => {
  for (const [address, safety, isRefused] of [
    ["127.0.0.1:1", { clientTls: undefined, isInsecure: false }, false],
    ["unix:/run/kesc.sock", { clientTls: undefined, isInsecure: false }, false],
    ["10.0.0.1:1", { clientTls: undefined, isInsecure: false }, true],
    ["10.0.0.1:1", { clientTls: {}, isInsecure: false }, false],
    ["10.0.0.1:1", { clientTls: undefined, isInsecure: true }, false],
  ] as const) {
    it(`${isRefused ? "sends no key to" : "may call"} ${address} with ${JSON.stringify(safety)}`, () => {
      expect(clientExposure("--address", address, safety) !== undefined).to.equal(isRefused);
    });
  }
});
