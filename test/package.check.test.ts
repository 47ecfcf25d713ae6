import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";

import { expect } from "chai";

import { eventually } from "./support/eventually.js";

// What somebody has who has the two files of `make pack`, and no checkout. npm asks the registry
// for the packages that they need, as it does for everybody.

const INSTALL_MILLIS_MAX = 300_000;
const START = { millisMax: 60_000, what: () => "kesc serve --demo printed no request" };
/** npm's codes and words when it cannot ask a registry, nor has a copy. */
const NO_REGISTRY = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|E40[13]|E5\d\d)\b/;
const PRINTED = /^account acc_\w+\nminted 1000.00\nredeemed 250.00\nrepeated: the same transaction\n/;
const PYTHON = "/usr/bin/python3";

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

describe("the packages of make pack, installed in empty folders", () => {
  const place = mkdtempSync(join(tmpdir(), "kesc-packages-"));
  const prefix = join(place, "prefix");
  const [home, project] = [join(place, "home"), join(place, "project")];
  const installed = join(prefix, "lib/node_modules/kesc");
  const inherited = Object.entries(process.env).filter(([name]) => !/^(KESC_|DATABASE_URL)/.test(name));
  const path = [join(prefix, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const env = { ...Object.fromEntries(inherited), PATH: path };
  const packed = new Map<string, Packed>();
  let serving: ChildProcess | undefined;
  let stdout = "";
  let variables: Readonly<Record<string, string>> = {};

  /** Runs npm. Returns what it says when it cannot ask the registry; undefined if it could. */
  function install(args: readonly string[], cwd: string): string | undefined {
    const flags = ["--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"];
    const { status, stderr } = spawnSync("npm", ["install", ...flags, ...args], { cwd, env, encoding: "utf8" });
    if (status === 0) return undefined;
    if (NO_REGISTRY.test(stderr)) return stderr;
    throw new Error(`npm install ${args.join(" ")}: ${stderr}`);
  }

  function fileOf(name: string): string {
    return join(place, packed.get(name)?.filename ?? "");
  }

  before(async function () {
    this.timeout(INSTALL_MILLIS_MAX);
    for (const name of ["kesc", "client"]) {
      const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", place];
      const said = execFileSync("npm", [...args, `./dist/packages/${name}`], { encoding: "utf8", stdio: "pipe" });
      packed.set(name, (JSON.parse(said) as [Packed])[0]);
    }
    mkdirSync(home);
    mkdirSync(project);
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    const problem = install(["-g", "--prefix", prefix, fileOf("kesc")], home) ?? install([fileOf("client")], project);
    if (problem !== undefined) {
      process.stderr.write(`      The packages were not installed, because npm cannot ask its registry: ${problem}\n`);
      this.skip();
    }
    const ports = {
      KESC_GRPC_ADDRESS: "127.0.0.1:0",
      KESC_HTTP_ADDRESS: "127.0.0.1:0",
      KESC_CONSOLE_ADDRESS: "127.0.0.1:0",
    };
    serving = spawn("kesc", ["serve", "--demo"], { cwd: home, env: { ...env, ...ports } });
    serving.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
    await eventually(() => /"reference": "first-mint"}'/.test(stdout), START);
    const [, key = ""] = /export KESC_API_KEY=(\S+)/.exec(stdout) ?? [];
    const [, url = ""] = /REST +(\S+)/.exec(stdout) ?? [];
    const [, address = ""] = /gRPC +(\S+)/.exec(stdout) ?? [];
    variables = { ...env, KESC_API_KEY: key, KESC_ADDRESS: address, KESC_URL: url };
  });
  after(async () => {
    if (serving?.exitCode === null) {
      serving.kill("SIGTERM");
      await once(serving, "exit");
    }
    rmSync(place, { recursive: true, force: true });
  });

  it("carry what they need, and neither sources nor tests", () => {
    const pathsOf = (name: string): string[] => packed.get(name)?.files.map((file) => file.path) ?? [];
    const kesc = pathsOf("kesc");
    const programs = ["dist/bin/kesc.js", "dist/bin/worker.js", "dist/bin/LICENSES.txt", "dist/proto/kesc.binpb"];
    const contract = ["kesc/v1/account_service.proto", "google/rpc/status.proto"].map((p) => `dist/proto/include/${p}`);
    expect(kesc).to.include.members([...programs, ...contract, "LICENSE", "README.md", "docs/api.md"]);
    expect(kesc.filter((p) => /^(src|test|bench|data|keys|node_modules)\/|\.ts$/.test(p))).to.deep.equal([
      "examples/clients/rest.ts",
    ]);
    const client = pathsOf("client");
    expect(client).to.include.members(["LICENSE", "README.md", "client/kesc-client.js", "client/kesc-client.d.ts"]);
    expect(
      client.filter((p) => !/^(client\/(gen\/)?[\w-]+\.(js|d\.ts)|LICENSE|README\.md|package\.json)$/.test(p)),
    ).to.deep.equal([]);
  });

  it("bring no package but SQLite with the server, and neither database nor web server with the client", () => {
    expect(readdirSync(join(installed, "node_modules")))
      .to.include("better-sqlite3")
      .and.have.length.below(4);
    const client = readdirSync(join(project, "node_modules"));
    expect(client).to.include("@grpc").and.not.include.members(["express", "knex", "pg", "better-sqlite3"]);
    const { dependencies } = JSON.parse(
      readFileSync(join(project, "node_modules/@kesc/client/package.json"), "utf8"),
    ) as {
      dependencies: object;
    };
    expect(Object.keys(dependencies)).to.have.members(["@grpc/grpc-js", "@bufbuild/protobuf"]);
  });

  it("serve in an empty folder, which then has the data and the keys", () => {
    expect(readdirSync(home)).to.have.members(["data", "keys"]);
    expect(existsSync(join(home, "data/kesc.db"))).to.equal(true);
    expect(execFileSync("kesc", ["org", "list"], { cwd: home, env, encoding: "utf8" })).to.include("demo");
  });

  it("mint over REST", async () => {
    const post = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
      const headers = { "x-api-key": String(variables["KESC_API_KEY"]), "content-type": "application/json" };
      const url = `${String(variables["KESC_URL"])}${path}`;
      const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
      expect(response.status).to.equal(201);
      return (await response.json()) as Readonly<Record<string, unknown>>;
    };
    const { id } = await post("/accounts", { user_id: "amina", phone_number: "0712345678" });
    const minted = await post("/transactions/mint", { account_id: id, amount: 10, reference: "d-1", rail: "direct" });
    expect(minted).to.include({ status: "completed", amount: 10 });
  });

  it("mint from a TypeScript program that is compiled strictly against the client", () => {
    copyFileSync("examples/clients/client.mjs", join(project, "program.ts"));
    const flags = ["--strict", "--target", "es2023", "--module", "nodenext", "--types", "node", "program.ts"];
    const options = { cwd: project, env: variables, encoding: "utf8" } as const;
    execFileSync(process.execPath, [resolve("node_modules/typescript/bin/tsc"), ...flags], options);
    expect(execFileSync(process.execPath, ["program.js"], options)).to.match(PRINTED);
  });

  it("mint from Python, over gRPC", function () {
    if (spawnSync(PYTHON, ["-c", "import grpc, google.protobuf"]).status !== 0) {
      process.stderr.write(`      client.py was not tried: ${PYTHON} has no grpcio\n`);
      this.skip();
    }
    const program = join(installed, "examples/clients/client.py");
    expect(execFileSync(PYTHON, [program], { cwd: home, env: variables, encoding: "utf8" })).to.match(PRINTED);
  });
});
