import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "chai";

import { type Environment, readVariables, type Values } from "../../runtime/variables.js";
import { VARIABLES } from "../../runtime/variables/declarations.js";

function valuesOf(environment: Environment): Values {
  const result = readVariables(environment);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.values;
}

function problemsOf(environment: Environment): readonly string[] {
  const result = readVariables(environment);
  return result.ok ? [] : result.problems;
}

describe("the environment variables", () => {
  it("have defaults that are valid themselves", () => {
    const fallbacks = Object.entries(VARIABLES).flatMap(([name, { fallback }]) =>
      fallback === undefined ? [] : [[name, fallback] as const],
    );
    expect(valuesOf(Object.fromEntries(fallbacks))).to.deep.equal(valuesOf({}));
  });

  it("are absent when they are empty", () => {
    const empty = Object.fromEntries(Object.keys(VARIABLES).map((name) => [name, ""]));
    expect(valuesOf(empty)).to.deep.equal(valuesOf({}));
  });

  for (const address of ["127.0.0.1:1", "[::1]:65535", "localhost:0", "unix:/run/kesc.sock", "unix:relative"]) {
    it(`let gRPC listen on ${address}`, () => {
      expect(valuesOf({ KESC_GRPC_ADDRESS: address }).KESC_GRPC_ADDRESS).to.equal(address);
    });
  }

  for (const [text, expected] of [
    ["localhost:0", { host: "localhost", port: 0 }],
    ["[::1]:80", { host: "::1", port: 80 }],
  ] as const) {
    it(`let REST listen on ${text}`, () => {
      expect(valuesOf({ KESC_HTTP_ADDRESS: text }).KESC_HTTP_ADDRESS).to.deep.equal(expected);
    });
  }

  const DATABASE_URL =
    "must be sqlite:PATH, such as sqlite:./data/kesc.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE.";
  const HOST_AND_PORT = "must be host:port, such as 127.0.0.1:8080";
  const HOST_AND_PORT_OR_SOCKET = "must be host:port or unix:/path, such as 127.0.0.1:50051";
  const ORIGIN = "must be https:// and a name, such as https://console.example.com, or http://localhost:8081";
  for (const [name, text, problem] of [
    ["DATABASE_URL", "mysql://h/d", DATABASE_URL],
    ["DATABASE_URL", "sqlite:", DATABASE_URL],
    ["DATABASE_URL", "sqlite::memory:", DATABASE_URL],
    ["DATABASE_URL", "postgres://h:port/d", DATABASE_URL],
    ["DATABASE_URL", "postgres://user@:x/d?host=/run", DATABASE_URL],
    ["KESC_GRPC_ADDRESS", "50051", `${HOST_AND_PORT_OR_SOCKET}; it is "50051".`],
    ["KESC_GRPC_ADDRESS", "127.0.0.1:65536", `${HOST_AND_PORT_OR_SOCKET}; it is "127.0.0.1:65536".`],
    ["KESC_GRPC_ADDRESS", "unix:", `${HOST_AND_PORT_OR_SOCKET}; it is "unix:".`],
    ["KESC_GRPC_ADDRESS", "http://127.0.0.1:50051", `${HOST_AND_PORT_OR_SOCKET}; it is "http://127.0.0.1:50051".`],
    ["KESC_GATEWAY_TARGET", "nowhere", `${HOST_AND_PORT_OR_SOCKET}; it is "nowhere".`],
    ["KESC_HTTP_ADDRESS", "unix:/run/kesc.sock", `${HOST_AND_PORT}; it is "unix:/run/kesc.sock".`],
    ["KESC_HTTP_ADDRESS", "::1:8080", `${HOST_AND_PORT}; it is "::1:8080".`],
    ["KESC_HTTP_ADDRESS", "localhost:65536", `${HOST_AND_PORT}; it is "localhost:65536".`],
    ["KESC_BATCH_MAX", "0", 'must be a whole number from 1 to 10000; it is "0".'],
    ["KESC_BATCH_MAX", "12.5", 'must be a whole number from 1 to 10000; it is "12.5".'],
    ["KESC_BATCH_MAX", "1e3", 'must be a whole number from 1 to 10000; it is "1e3".'],
    ["KESC_GATEWAY_PROCESSES", "257", 'must be a whole number from 1 to 256; it is "257".'],
    ["KESC_SHUTDOWN_GRACE_SECONDS", "0", 'must be a whole number from 1 to 3600; it is "0".'],
    ["KESC_SHUTDOWN_GRACE_SECONDS", "20s", 'must be a whole number from 1 to 3600; it is "20s".'],
    ["KESC_CONSOLE_ORIGIN", "http://console.example.com", `${ORIGIN}; it is "http://console.example.com".`],
    ["KESC_CONSOLE_ORIGIN", "https://192.0.2.1", `${ORIGIN}; it is "https://192.0.2.1".`],
    ["KESC_CONSOLE_ORIGIN", "https://console.example.com/", `${ORIGIN}; it is "https://console.example.com/".`],
    ["KESC_INSECURE", "yes", 'must be true or false; it is "yes".'],
    ["KESC_LOG_LEVEL", "loud", 'must be one of trace, debug, info, warn, error, fatal, silent; it is "loud".'],
  ] as const) {
    it(`refuse ${name}=${text}, and say what is allowed`, () => {
      expect(problemsOf({ [name]: text })).to.deep.equal([`${name} ${problem}`]);
    });
  }

  it("name every wrong variable at once", () => {
    const problems = problemsOf({
      KESC_BATCH_MAX: "many",
      KESC_LOG_LEVEL: "loud",
      KESC_QUEUEMAX: "5",
      DATABASE_URL: "x",
    });
    expect(problems.map((problem) => problem.split(" ", 3).join(" "))).to.deep.equal([
      "DATABASE_URL must be",
      "KESC_BATCH_MAX must be",
      "KESC_LOG_LEVEL must be",
      "Unknown variable KESC_QUEUEMAX.",
    ]);
  });

  for (const [name, advice] of [
    ["KESC_QUEUEMAX", "Did you mean KESC_QUEUE_MAX?"],
    ["KESC_GRPC_ADRESS", "Did you mean KESC_GRPC_ADDRESS?"],
    ["KESC_COLOUR_OF_THE_SKY", "Unset it; docs/configuration.md lists all variables."],
  ] as const) {
    it(`refuse ${name}, and say what to do`, () => {
      expect(problemsOf({ [name]: "5" })).to.deep.equal([`Unknown variable ${name}. ${advice}`]);
    });
  }

  it("take the database's URL from a file", () => {
    const file = join(mkdtempSync(join(tmpdir(), "kesc-url-")), "url");
    writeFileSync(file, "sqlite:/var/lib/kesc.db\n");
    expect(valuesOf({ DATABASE_URL_FILE: file }).DATABASE_URL).to.equal("sqlite:/var/lib/kesc.db");
    writeFileSync(file, "mysql://user:hunter2@h/d\n");
    expect(problemsOf({ DATABASE_URL_FILE: file })).to.deep.equal([`DATABASE_URL ${DATABASE_URL}`]);
    expect(problemsOf({ DATABASE_URL_FILE: file, DATABASE_URL: "sqlite:a" })).to.deep.equal([
      "DATABASE_URL and DATABASE_URL_FILE are both set. Unset one of them.",
    ]);
  });

  for (const [given, missing] of [
    ["KESC_TLS_CERT_FILE", "KESC_TLS_KEY_FILE"],
    ["KESC_TLS_KEY_FILE", "KESC_TLS_CERT_FILE"],
  ] as const) {
    it(`refuse ${given} alone`, () => {
      expect(problemsOf({ [given]: "a.pem", [missing]: "" })).to.deep.equal([
        `${missing} is not set. KESC_TLS_CERT_FILE and KESC_TLS_KEY_FILE come together.`,
      ]);
    });
  }

  it("may have others beside them, and those in which callers keep their key", () => {
    expect(
      problemsOf({ PATH: "/bin", KESC: "x", KESC_API_KEY: "kesc_secret", KESC_API_KEY_FILE: "key" }),
    ).to.deep.equal([]);
  });

  it("never repeat the password of a database", () => {
    expect(problemsOf({ DATABASE_URL: "postgres://user:pass word@:x" }).join())
      .to.match(/DATABASE_URL/)
      .and.not.match(/word/);
  });
});
