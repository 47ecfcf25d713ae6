import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { expect } from "chai";

import { RestCaller } from "../support/callers/rest-caller.js";
import { environment } from "../support/service/kesc.js";

const BUILD = "deploy/docker/build.sh";
const BUILD_MILLIS_MAX = 600_000;

/** Copies what git tracks, and links the packages: the script then need not install them. */
function copyCheckout(folder: string): void {
  const files = execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0").filter(existsSync);
  for (const file of files.filter((name) => name !== "")) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(file, join(folder, file));
  }
  execFileSync("cp", ["-al", "node_modules", join(folder, "node_modules")]);
}

describe("the steps of the image, in a checkout of git", () => {
  const place = mkdtempSync(join(tmpdir(), "kesc-image-"));
  const app = join(place, "app");
  // Beside the packages: no link leads to another disk.
  const checkout = mkdtempSync("dist/checkout-");
  const data = join(place, "data");
  const program = join(app, "dist/bin/kesc.js");
  const variables = environment({
    NODE_ENV: "production",
    DATABASE_URL: "sqlite:./kesc.db",
    KESC_MASTER_KEY_FILE: join(data, "master.key"),
    KESC_GRPC_ADDRESS: "127.0.0.1:0",
    KESC_HTTP_ADDRESS: "127.0.0.1:0",
  });
  let serving: ChildProcess | undefined;

  before(function () {
    this.timeout(BUILD_MILLIS_MAX);
    // A package from a registry has no list of its files.
    if (!existsSync(".git")) this.skip();
    mkdirSync(data);
    copyCheckout(checkout);
    execFileSync(BUILD, [app], { cwd: checkout, stdio: "pipe", timeout: BUILD_MILLIS_MAX });
  });
  after(() => {
    serving?.kill("SIGKILL");
    for (const folder of [checkout, place]) rmSync(folder, { recursive: true, force: true });
  });

  function kesc(...args: string[]): string {
    return execFileSync(process.execPath, [program, ...args], { cwd: data, env: variables, encoding: "utf8" });
  }

  it("leave the programs and the package that they need, and no tests, no tools and no secrets", () => {
    expect(readdirSync(join(app, "node_modules"))).to.deep.equal(["better-sqlite3"]);
    expect(readdirSync(app)).not.to.include("test");
    expect(readdirSync(join(app, "dist"))).to.have.members(["bin", "proto", "swagger-ui"]);
  });

  it("leave a service that migrates, serves and mints, and stops when it is told to", async () => {
    kesc("migrate");
    const created = JSON.parse(kesc("org", "create", "--name", "Acme", "--json")) as { id: string };
    const options = ["--org", created.id, "--name", "test", "--all-scopes", "--expires-in", "1d", "--json"];
    const { secret: key } = JSON.parse(kesc("key", "create", ...options)) as { secret: string };
    serving = fork(program, ["serve"], { cwd: data, env: variables, silent: true, execArgv: [] });
    const [{ address }] = (await once(serving, "message")) as [{ address: string }];
    const rest = new RestCaller(address, { key });
    const account = await rest.send("POST", "/accounts", { body: { user_id: "u", phone_number: "0712345678" } });
    const body = { account_id: account.json["id"], amount: "1.00", reference: "r" };
    const minted = await rest.send("POST", "/transactions/mint", { body });
    rest.close();
    expect(minted.status, minted.text).to.equal(201);
    serving.kill("SIGTERM");
    expect(await once(serving, "exit")).to.deep.equal([0, null]);
  });
});
