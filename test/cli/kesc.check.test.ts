import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";

import { expect } from "chai";

import { SCOPES } from "../../src/domain/api-key.js";
import { MIGRATIONS } from "../../src/storage/migrate.js";
import { openDatabaseAt } from "../support/databases.js";
import {
  type Ended,
  environment,
  KESC,
  kesc,
  kescJson,
  kescProcess,
  Place,
  type Variables,
} from "../support/service/kesc.js";
import { makeTenants, withKeys } from "../support/service/tenants.js";

/** The migrations of this build, as the command lists them. */
const MIGRATED = Object.keys(MIGRATIONS).join(", ");

interface OrganizationJson {
  readonly id: string;
  readonly name: string;
  readonly cell: number;
  readonly created_at: string;
}

interface KeyJson {
  readonly id: string;
  readonly organization_id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at?: string | null;
  readonly last_used_at?: string | null;
  readonly secret?: string;
  readonly proposal?: null;
  readonly unchanged?: boolean;
}

describe("kesc on a migrated database", () => {
  let place: Place;
  let organization: OrganizationJson;
  before(async () => {
    place = new Place();
    expect((await kesc(["migrate"], place.variables)).stdout).to.equal(`Migrated: ${MIGRATED}.\n`);
    organization = await kescJson(["org", "create", "--name", "Duka la Amina"], place.variables);
  });
  after(() => {
    place.remove();
  });

  it("has nothing to migrate a second time", async () => {
    expect(await kesc(["migrate"], place.variables)).to.include({ code: 0, stdout: "The database is up to date.\n" });
  });

  it("keeps the database file from other users", () => {
    expect(statSync(place.databaseFile).mode & 0o077).to.equal(0);
  });

  it("makes and lists organizations", async () => {
    const fields = ["id", "name", "sandbox", "suspended", "cell", "created_at", "receipts_required", "changed"];
    expect(Object.keys(organization)).to.deep.equal(fields);
    expect(organization.id).to.match(/^org_/);
    expect(organization.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const list = ["org", "list"];
    const [json, table] = await Promise.all([kescJson(list, place.variables), kesc(list, place.variables)]);
    expect(json).to.deep.equal([organization]);
    expect(table.stdout).to.contain("Duka la Amina");
  });

  it("makes a key with every scope and no expiry, shows its secret once, lists it and revokes it", async () => {
    const made = await kescJson<KeyJson>(
      ["key", "create", "--org", organization.id, "--name", "till", "--all-scopes", "--never-expires"],
      place.variables,
    );
    const { secret, proposal, ...key } = made;
    expect(proposal).to.equal(null);
    expect(secret).to.match(/^kesc_0_[A-Za-z0-9_-]{43}$/);
    expect(key).to.deep.equal({
      id: key.id,
      organization_id: organization.id,
      name: "till",
      scopes: SCOPES,
      created_at: key.created_at,
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
    });

    const list = ["key", "list", "--org", organization.id];
    const [json, table] = await Promise.all([kescJson(list, place.variables), kesc(list, place.variables)]);
    expect(json).to.deep.equal([key]);
    expect(table.stdout)
      .to.match(/ live /)
      .and.not.contain(secret);

    const revoke = (): Promise<KeyJson> => kescJson<KeyJson>(["key", "revoke", key.id], place.variables);
    const { unchanged, ...revoked } = await revoke();
    expect(unchanged).to.equal(false);
    expect(revoked.revoked_at).to.be.a("string");
    expect(await kescJson(list, place.variables)).to.deep.equal([revoked]);
    expect(await revoke()).to.deep.equal({ ...revoked, unchanged: true });
  });

  it("makes a key with scopes and an expiry, by the organization's name, and says that it is shown once", async () => {
    const args = ["key", "create", "--org", "Duka la Amina", "--name", "report"];
    const limits = ["--scopes", "accounts:read, transactions:read", "--expires-in", "12h"];
    const made = await kescJson<KeyJson>([...args, ...limits], place.variables);
    expect(made.scopes).to.deep.equal(["accounts:read", "transactions:read"]);
    expect(Date.parse(made.expires_at ?? "") - Date.parse(made.created_at)).to.be.closeTo(12 * 3_600_000, 1_000);
    const [{ stdout }, unlimited] = await Promise.all([
      kesc([...args, ...limits], place.variables),
      kesc([...args, "--scopes", "accounts:read", "--all-scopes"], place.variables),
    ]);
    expect(stdout)
      .to.match(/\n {2}kesc_0_\S{43}\n/)
      .and.contain("shown once");
    expect(unlimited).to.include({ code: 2, stdout: "" });
    expect(unlimited.stderr).to.equal(
      `Say what the key may do, with one of: --scopes ${SCOPES.join(",")} (some of them), --all-scopes.\n` +
        "Say how long the key is valid, with one of: --expires-in 90d, --never-expires.\n",
    );
  });

  it("ends quietly when its output is closed", async () => {
    const list = `"${process.execPath}" "$0" org list`;
    const { stderr } = await promisify(execFile)("bash", ["-c", `${list} | true; exit "\${PIPESTATUS[0]}"`, KESC], {
      env: environment(place.variables),
    });
    expect(stderr).to.equal("");
  });

  for (const args of [["org", "list"], ["key", "list", "--org", "Duka la Amina"], ["help"], ["migrate"]]) {
    it(`says in one line that its output cannot be written: kesc ${args.join(" ")}`, async () => {
      const { code, stderr } = await withOutput(">/dev/full", args);
      expect(code).to.equal(1);
      expect(stderr).to.match(/^Standard output cannot be written: [^\n]*ENOSPC[^\n]*\n$/);
    });
  }

  for (const [what, redirection] of [
    ["is closed", "| true"],
    ["cannot be written", ">/dev/full"],
  ] as const) {
    it(`fails and says what to do when the secret of a new key is lost, because the output ${what}`, async () => {
      const args = [
        "key",
        "create",
        "--org",
        organization.id,
        "--name",
        "lost",
        "--all-scopes",
        "--never-expires",
        "--json",
      ];
      const { code, stderr } = await withOutput(redirection, args);
      expect(code).to.equal(1);
      const [, id = ""] = /kesc key revoke (key_\w+)/.exec(stderr) ?? [];
      expect(stderr).to.include("its secret is lost").and.not.include("    at ");
      expect((await kesc(["key", "revoke", id], place.variables)).code).to.equal(0);
    });
  }

  /** Runs a command with its output somewhere else. */
  async function withOutput(redirection: string, args: readonly string[]): Promise<{ code: number; stderr: string }> {
    const script = `"${process.execPath}" "$0" "$@" ${redirection}; echo "\${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await promisify(execFile)("bash", ["-c", script, KESC, ...args], {
      env: environment(place.variables),
    });
    return { code: Number(stdout), stderr };
  }
});

describe("kesc migrate and the master key file", () => {
  let place: Place;
  let keyFile: string;
  let variables: Variables;
  before(() => {
    place = new Place();
    keyFile = join(place.folder, "new", "master.key");
    variables = { ...place.variables, KESC_MASTER_KEY_FILE: keyFile };
  });
  after(() => {
    place.remove();
  });

  it("makes the file for a new database, and leaves it as it is from then on", async () => {
    const { stdout } = await kesc(["migrate"], variables);
    expect(stdout).to.match(
      /^Created the master key file .*master\.key\. Keep a copy .*\nMigrated: 0001-first-release[^\n]*\.\n$/,
    );
    const made = readFileSync(keyFile, "utf8");
    expect(made).to.match(/^[A-Za-z0-9_-]{43}\n$/);
    expect((await kesc(["migrate"], variables)).stdout).to.equal("The database is up to date.\n");
    expect(readFileSync(keyFile, "utf8")).to.equal(made);
  });

  it("makes no other for a database that needs the one that is lost", async () => {
    await kescJson(["org", "create", "--name", "A"], variables);
    rmSync(keyFile);
    const { code, stderr } = await kesc(["migrate"], variables);
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      `The master key file ${keyFile} cannot be used: it does not exist. ` +
        "Put the file back from its copy, or set KESC_MASTER_KEY_FILE to it (docs/run.md).\n",
    );
    expect(existsSync(keyFile)).to.equal(false);
  });
});

describe("kesc called wrongly", () => {
  let place: Place;
  /** The result of each row. */
  let ended: readonly Ended[];
  before(async () => {
    place = new Place();
    await withKeys(place.databaseUrl, makeTenants);
    ended = await Promise.all(ROWS.map(([, args, variables]) => kesc(args, { ...place.variables, ...variables })));
  });
  after(() => {
    place.remove();
  });

  const UNKNOWN_ORG = "org_01jd2r6p5vf8ksw3xhb1z7q4ye";
  const CREATE_KEY = ["key", "create", "--org", UNKNOWN_ORG, "--name", "x"];
  const ROWS = [
    ["shows help for no command", [], {}, 2, /Usage: kesc/],
    ["does not know a command", ["mint"], {}, 2, /unknown command 'mint'/],
    ["does not know an option", ["verify", "--fast"], {}, 2, /unknown option '--fast'/],
    ["misses an option", ["org", "create"], {}, 2, /required option '--name <name>' not specified/],
    ["refuses an empty name", ["org", "create", "--name", " "], {}, 2, /must not be empty/],
    [
      "refuses a scope that there is none of",
      [...CREATE_KEY, "--scopes", "all"],
      {},
      2,
      /must be one of accounts:read/,
    ],
    ["refuses a duration without a unit", [...CREATE_KEY, "--expires-in", "90"], {}, 2, /such as 90d/],
    ["refuses what is no id of a key", ["key", "revoke", "kesc_secret"], {}, 2, /^(?!.*secret).*key list --org/],
    [
      "names wrong variables",
      ["server"],
      { KESC_BATCH_MAX: "x", KESC_LOG_LEVEL: "y" },
      2,
      /BATCH_MAX .*\n.*LOG_LEVEL /,
    ],
    ["names wrong variables of the gateway", ["gateway"], { KESC_HTTP_ADDRESS: "x" }, 2, /KESC_HTTP_ADDRESS must be/],
    [
      "finds no such organization",
      [...CREATE_KEY, "--all-scopes", "--never-expires"],
      {},
      1,
      /There is no organization org_.* kesc org list/,
    ],
    [
      "finds no organization of that name",
      ["key", "list", "--org", "nobody"],
      {},
      1,
      /There is no organization "nobody"/,
    ],
    [
      "finds no such key",
      ["key", "revoke", "key_01jd2r6p5vf8ksw3xhb1z7q4ye"],
      {},
      1,
      /There is no key key_\w+\. .*key list --org/,
    ],
  ] as const;
  for (const [index, [name, , , code, says]] of ROWS.entries()) {
    it(`${name}: ${String(code)}`, () => {
      expect(ended[index]).to.include({ code, stdout: "" });
      expect(ended[index]?.stderr)
        .to.match(says)
        .and.not.match(/ {4}at /);
    });
  }

  it("prints help and its version, and exits with 0", async () => {
    const { code, stdout } = await kesc(["help"], {});
    expect(code).to.equal(0);
    for (const word of ["Money:\n", "serve", "migrate", "verify", "DATABASE_URL", "docs/configuration.md"])
      expect(stdout).to.contain(word);
    expect(await kescProcess(["--version"], {})).to.include({ code: 0, stdout: "0.1.0\n" });
  });

  it("refuses an older Node in one line", async () => {
    const older = "Object.defineProperty(process, 'versions', { value: { node: '20.20.2' } })";
    const ended = await kescProcess(["help"], { NODE_OPTIONS: `"--import=data:text/javascript,${encodeURI(older)}"` });
    expect(ended).to.deep.equal({
      code: 2,
      stdout: "",
      stderr: "KESC needs Node ^22.23.2, ^24.18.1, ^26.10.0. This is Node 20.20.2.\n",
    });
  });
});

describe("kesc without a database that it can use", () => {
  let place: Place;
  beforeEach(() => {
    place = new Place();
  });
  afterEach(() => {
    place.remove();
  });

  it("asks for pending migrations, whatever the command", async () => {
    await (await openDatabaseAt(place.databaseUrl)).close();
    const commands = [["server"], ["serve"], ["org", "list"], ["verify"]];
    const all = await Promise.all(commands.map((args) => kesc(args, place.variables)));
    expect(all.map(({ code }) => code)).to.deep.equal([1, 1, 1, 3]);
    for (const { stderr } of all) {
      expect(stderr).to.contain(`lacks the migrations ${MIGRATED}. Run: kesc migrate\n`);
    }
  });

  it("creates no file and no folder, whatever the command", async () => {
    const commands = [["server"], ["serve"], ["org", "list"], ["verify"]];
    const all = await Promise.all(commands.map((args) => kesc(args, place.variables)));
    expect(all.map(({ code }) => code)).to.deep.equal([1, 1, 1, 3]);
    for (const { stderr } of all) {
      const [line] = stderr.split("\n");
      expect(line).to.match(
        /^The database file .* does not exist\. For a new service run: kesc migrate\. .* kesc restore FILE/,
      );
    }
    expect(existsSync(dirname(place.databaseFile))).to.equal(false);
  });

  it("ends well when four migrate at once a database that does not exist yet", async () => {
    const ended = await Promise.all(Array.from({ length: 4 }, () => kescProcess(["migrate"], place.variables)));
    expect(ended.map(({ code, stderr }) => `${String(code)}${stderr}`)).to.deep.equal(["0", "0", "0", "0"]);
  });

  it("says in one line that PostgreSQL can't be reached, without the password", async () => {
    const url = "postgres://kesc:hush@127.0.0.1:1/books";
    const { code, stderr } = await kesc(["server"], { ...place.variables, DATABASE_URL: url });
    expect(code).to.equal(1);
    expect(stderr).to.equal(
      "The database books at 127.0.0.1:1 cannot be opened: connect ECONNREFUSED 127.0.0.1:1. " +
        "Check DATABASE_URL, and that PostgreSQL is running and accepts this user.\n",
    );
  });

  it("says in one line that the folder can't be made", async () => {
    writeFileSync(join(place.folder, "data"), "a file where a folder should be");
    const { code, stderr } = await kesc(["migrate"], place.variables);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^The database file .*cannot be opened: .*\n$/);
    expect(existsSync(place.databaseFile)).to.equal(false);
  });

  it("prints a stack trace at the log level debug", async () => {
    const { stderr } = await kesc(["org", "list"], { ...place.variables, KESC_LOG_LEVEL: "debug" });
    expect(stderr).to.match(/ {4}at /);
  });
});
