import { expect } from "chai";

import { readConfig } from "../../console/config.js";
import { sessionCookie } from "../../console/http/cookie.js";
import { readConfig as readServerConfig } from "../../src/startup/config.js";

const GIVEN = { KESC_OPERATOR_ADDRESS: "127.0.0.1:50052" };

function problemsOf(environment: Readonly<Record<string, string>>): string {
  const result = readConfig(environment);
  return result.ok ? "" : result.problems.join("\n");
}

describe("the configuration of the console", () => {
  it("calls KESC_CONSOLE_TARGET, or else KESC_OPERATOR_ADDRESS, and needs one of them", () => {
    const targetOf = (environment: Readonly<Record<string, string>>): string | undefined => {
      const result = readConfig(environment);
      return result.ok ? result.config.target : undefined;
    };
    expect(targetOf(GIVEN)).to.equal("127.0.0.1:50052");
    expect(targetOf({ ...GIVEN, KESC_CONSOLE_TARGET: "unix:/run/kesc.sock" })).to.equal("unix:/run/kesc.sock");
    expect(problemsOf({})).to.include("KESC_CONSOLE_TARGET is not set");
  });

  it("sends no session over a network without TLS", () => {
    expect(problemsOf({ ...GIVEN, KESC_CONSOLE_ADDRESS: "0.0.0.0:8081" })).to.include("but TLS is off");
    expect(problemsOf({ KESC_CONSOLE_TARGET: "10.0.0.7:50052" })).to.include("KESC_GATEWAY_CA_FILE");
    expect(problemsOf({ KESC_CONSOLE_TARGET: "10.0.0.7:50052", KESC_INSECURE: "true" })).to.include("TLS is off");
    expect(problemsOf({ ...GIVEN, KESC_CONSOLE_ORIGIN: "http://console.example.com" })).to.include("must be https://");
  });

  for (const [given, expected] of [
    [{}, "http://localhost:8081"],
    [{ KESC_CONSOLE_ADDRESS: "127.0.0.1:9000" }, "http://localhost:9000"],
    [{ KESC_CONSOLE_ADDRESS: "127.0.0.1:80" }, "http://localhost"],
    [{ KESC_TLS_CERT_FILE: "a.crt", KESC_TLS_KEY_FILE: "a.key" }, "https://localhost:8081"],
    [
      { KESC_CONSOLE_ADDRESS: "127.0.0.1:9000", KESC_CONSOLE_ORIGIN: "https://console.example.com" },
      "https://console.example.com",
    ],
  ] as const) {
    it(`is opened, and linked to by the server, at ${expected} with ${JSON.stringify(given)}`, () => {
      const ofConsole = readConfig({ ...GIVEN, ...given });
      const ofServer = readServerConfig(given);
      expect(ofConsole.ok && ofConsole.config.origin).to.equal(expected);
      expect(ofServer.ok && ofServer.config.consoleOrigin).to.equal(expected);
    });
  }

  it("keeps the session in a cookie of this host alone, or of this port without https", () => {
    const cookieOf = (origin: string): string => {
      const headers: string[] = [];
      sessionCookie(origin).set({ append: (_: string, value: string) => headers.push(value) } as never, "t");
      return headers.join();
    };
    expect(cookieOf("https://console.example.com")).to.equal("__Host-kesc=t; Path=/; HttpOnly; SameSite=Lax; Secure");
    expect(cookieOf("http://localhost:8081")).to.equal("kesc-8081=t; Path=/; HttpOnly; SameSite=Lax");
  });
});
