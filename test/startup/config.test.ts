import { expect } from "chai";

import { readConfig as readGatewayConfig } from "../../gateway/config.js";
import { DEFAULT_LIMITS } from "../../src/grpc/limits.js";
import { type Config, readConfig, VARIABLES } from "../../src/startup/config.js";

type Environment = Readonly<Record<string, string>>;

function configOf(environment: Environment): Config {
  const result = readConfig(environment);
  if (!result.ok) throw new Error(result.problems.join("\n"));
  return result.config;
}

function problemsOf(environment: Environment): readonly string[] {
  const result = readConfig(environment);
  return result.ok ? [] : result.problems;
}

describe("config", () => {
  it("has a default for everything", () => {
    expect(configOf({})).to.deep.equal({
      database: { engine: "sqlite", filename: "./data/kesc.db" },
      grpcAddress: "127.0.0.1:50051",
      httpAddress: "127.0.0.1:8080",
      gatewayTarget: undefined,
      batchMax: 256,
      queueMax: 10_000,
      shutdownGraceSeconds: 20,
      logLevel: "info",
      grpcLimits: DEFAULT_LIMITS,
    });
  });

  it("takes an empty variable for one that is not set", () => {
    expect(configOf({ KESC_BATCH_MAX: "", DATABASE_URL: "", KESC_GATEWAY_TARGET: "" })).to.deep.equal(configOf({}));
  });

  for (const [name, environment, expected] of [
    [
      "a file of SQLite",
      { DATABASE_URL: "sqlite:/var/lib/kesc.db" },
      { engine: "sqlite", filename: "/var/lib/kesc.db" },
    ],
    [
      "a server of PostgreSQL, with the most connections to it",
      { DATABASE_URL: "postgres://a:b@h:1/d", KESC_DATABASE_CONNECTIONS_MAX: "3" },
      { engine: "postgres", url: "postgres://a:b@h:1/d", connectionsMax: 3 },
    ],
    [
      "the longer name of PostgreSQL",
      { DATABASE_URL: "postgresql://h/d" },
      { engine: "postgres", url: "postgresql://h/d", connectionsMax: 10 },
    ],
  ] as const) {
    it(`reads ${name}`, () => {
      expect(configOf(environment).database).to.deep.equal(expected);
    });
  }

  it("reads seconds into milliseconds", () => {
    const { grpcLimits } = configOf({ KESC_CALL_SECONDS_MAX: "7", KESC_GRPC_LAME_DUCK_SECONDS: "3" });
    expect(grpcLimits).to.deep.equal({ ...DEFAULT_LIMITS, callMillisMax: 7_000, lameDuckMillis: 3_000 });
  });

  for (const address of ["127.0.0.1:1", "[::1]:65535", "localhost:0", "unix:/run/kesc.sock", "unix:relative"]) {
    it(`lets gRPC listen on ${address}`, () => {
      expect(configOf({ KESC_GRPC_ADDRESS: address }).grpcAddress).to.equal(address);
    });
  }

  for (const [name, text] of [
    ["DATABASE_URL", "mysql://h/d"],
    ["DATABASE_URL", "sqlite:"],
    ["DATABASE_URL", "sqlite::memory:"],
    ["DATABASE_URL", "postgres://h:port/d"],
    ["KESC_GRPC_ADDRESS", "50051"],
    ["KESC_GRPC_ADDRESS", "127.0.0.1:65536"],
    ["KESC_GRPC_ADDRESS", "unix:"],
    ["KESC_GRPC_ADDRESS", "http://127.0.0.1:50051"],
    ["KESC_HTTP_ADDRESS", "unix:/run/kesc.sock"],
    ["KESC_HTTP_ADDRESS", "::1:8080"],
    ["KESC_GATEWAY_TARGET", "nowhere"],
    ["KESC_BATCH_MAX", "0"],
    ["KESC_BATCH_MAX", "12.5"],
    ["KESC_BATCH_MAX", "1e3"],
    ["KESC_QUEUE_MAX", "-1"],
    ["KESC_SHUTDOWN_GRACE_SECONDS", "20s"],
    ["KESC_LOG_LEVEL", "loud"],
  ] as const) {
    it(`refuses ${name}=${text}, and says what to write`, () => {
      const problems = problemsOf({ [name]: text });
      expect(problems).to.have.length(1);
      expect(problems[0]).to.match(new RegExp(`^${name} must be .+\\.$`));
    });
  }

  it("names every wrong variable at once", () => {
    const problems = problemsOf({
      KESC_BATCH_MAX: "many",
      KESC_LOG_LEVEL: "loud",
      KESC_QUEUEMAX: "5",
      DATABASE_URL: "x",
    });
    expect(problems.map((problem) => /[A-Z]+_[A-Z_]+/.exec(problem)?.[0])).to.deep.equal([
      "DATABASE_URL",
      "KESC_BATCH_MAX",
      "KESC_LOG_LEVEL",
      "KESC_QUEUEMAX",
    ]);
  });

  it("asks whether a near one was meant", () => {
    expect(problemsOf({ KESC_QUEUEMAX: "5" })[0]).to.contain("Did you mean KESC_QUEUE_MAX?");
    expect(problemsOf({ KESC_GRPC_ADRESS: "5" })[0]).to.contain("Did you mean KESC_GRPC_ADDRESS?");
    expect(problemsOf({ KESC_COLOUR_OF_THE_SKY: "blue" })[0]).to.contain("kesc help");
  });

  it("leaves alone what is not its own, and what the examples keep a key in", () => {
    expect(problemsOf({ PATH: "/bin", KESC: "x", KESC_API_KEY: "kesc_secret" })).to.deep.equal([]);
  });

  it("never repeats the password of a database", () => {
    expect(problemsOf({ DATABASE_URL: "postgres://user:pass word@:x" }).join())
      .to.match(/DATABASE_URL/)
      .and.not.match(/word/);
  });

  it("does what the gateway does with the gateway's variables", () => {
    const gateway = readGatewayConfig({});
    expect(gateway.ok && gateway.config).to.deep.include({
      listen: { host: "127.0.0.1", port: 8_080 },
      target: VARIABLES.KESC_GRPC_ADDRESS.fallback,
      logLevel: VARIABLES.KESC_LOG_LEVEL.fallback,
      bodyBytesMax: Number(VARIABLES.KESC_HTTP_BODY_BYTES_MAX.fallback),
      connectionsMax: Number(VARIABLES.KESC_HTTP_CONNECTIONS_MAX.fallback),
      requestsMax: Number(VARIABLES.KESC_HTTP_REQUESTS_MAX.fallback),
      callSecondsMax: Number(VARIABLES.KESC_CALL_SECONDS_MAX.fallback),
      shutdownGraceSeconds: Number(VARIABLES.KESC_SHUTDOWN_GRACE_SECONDS.fallback),
    });
    const fallbacks = Object.entries(VARIABLES).flatMap(([name, { fallback }]) =>
      fallback === undefined ? [] : [[name, fallback]],
    );
    expect(readGatewayConfig(Object.fromEntries(fallbacks) as Environment).ok).to.equal(true);
  });
});
