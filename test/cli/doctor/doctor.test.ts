import { execFile } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";

import BetterSqlite3 from "better-sqlite3";
import { expect } from "chai";

import { checkActs } from "../../../src/cli/doctor/acts.js";
import { checkNode, judgeDisk } from "../../../src/cli/doctor/machine.js";
import { readSealKeys } from "../../../src/seals/key-file.js";
import { withConnection } from "../../../src/storage/postgres/administration.js";
import { openDatabaseAt } from "../../support/databases.js";
import { sharedPostgres } from "../../support/postgres.js";
import { givenSealer } from "../../support/seals/given-seals.js";
import { environment, KESC, kesc, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";
import { secretsIn } from "../../support/service/secrets.js";
import { Authority, LOCAL_NAMES, type Wish, writeTls } from "../../support/tls/authority.js";

const DAY_MILLIS = 86_400_000;
const MIB = 1_048_576;

interface Finding {
  readonly check: string;
  readonly state: "ok" | "warn" | "fail";
  readonly meaning: string;
  readonly remedy?: string;
}

interface Report {
  readonly code: number | null;
  readonly findings: readonly Finding[];
}

async function doctor(variables: Variables, ...args: string[]): Promise<Report> {
  const { code, stdout, stderr } = await kesc(["doctor", "--json", ...args], variables);
  expect(stderr).to.equal("");
  expect(secretsIn(stdout)).to.deep.equal([]);
  const { ok, findings } = JSON.parse(stdout) as { readonly ok: boolean; readonly findings: readonly Finding[] };
  expect(ok).to.equal(code === 0);
  expect(ok).to.equal(findings.every(({ state }) => state !== "fail"));
  return { code, findings };
}

/** The findings that are not ok, each as "state check". */
function complaints({ findings }: Report): string[] {
  return findings.filter(({ state }) => state !== "ok").map(({ state, check }) => `${state} ${check}`);
}

describe("kesc doctor", () => {
  let place: Place;
  let variables: Variables;
  let backups: string;
  let authority: Authority;
  // Each test has a copy of it: making it takes seconds.
  let healthy: Place;
  before(async () => {
    authority = await Authority.create("tests");
    healthy = new Place();
    const folder = join(healthy.folder, "backups");
    mkdirSync(folder);
    for (const command of ["migrate", "seal rotate", "org create --name A", `backup ${join(folder, "one.db")}`]) {
      expect((await kesc(command.split(" "), healthy.variables)).code).to.equal(0);
    }
  });
  after(() => {
    healthy.remove();
  });
  beforeEach(() => {
    place = new Place();
    variables = place.variables;
    cpSync(healthy.folder, place.folder, { recursive: true });
    backups = join(place.folder, "backups");
  });
  afterEach(() => {
    place.remove();
  });

  const examine = (given: Variables = {}): Promise<Report> => doctor({ ...variables, ...given }, "--backups", backups);

  async function tlsVariables(time: Omit<Wish, "names"> = {}): Promise<Variables> {
    const issued = await authority.issue({ names: LOCAL_NAMES, ...time });
    const { cert, key, ca } = writeTls(join(place.folder, "tls"), issued, authority.pem);
    return { KESC_TLS_CERT_FILE: cert, KESC_TLS_KEY_FILE: key, KESC_GATEWAY_CA_FILE: ca };
  }

  it("finds nothing where all is well, and changes nothing", async () => {
    const files = (): string[] =>
      ["data", "keys", "backups"].flatMap((folder) =>
        readdirSync(join(place.folder, folder))
          .filter((name) => !/-(wal|shm)$/.test(name))
          .map((name) => {
            const path = join(place.folder, folder, name);
            return `${path} ${readFileSync(path).toString("base64")} ${String(statSync(path).mode)}`;
          }),
      );
    const before = files();
    const report = await examine(await tlsVariables());
    expect(complaints(report)).to.deep.equal([]);
    expect(report.code).to.equal(0);
    expect(files()).to.deep.equal(before);
  });

  it("prints one line for each check, and a last one that counts", async () => {
    const { code, stdout } = await kesc(["doctor"], { ...variables, KESC_SEAL_KEY_FILE: join(place.folder, "none") });
    expect(code).to.equal(0);
    const lines = stdout.trimEnd().split("\n");
    for (const line of lines.slice(0, -2))
      expect(line).to.match(/^(ok {2}|warn|fail) {2}[a-z A-Z]+ {2}\S.*\.$|kesc [a-z]/);
    expect(lines.at(-1)).to.match(/^\d+ checks: 0 failed, 2 warnings\.$/);
  });

  const edit = (sql: string): void => {
    const connection = new BetterSqlite3(place.databaseFile);
    connection.exec(sql);
    connection.close();
  };

  /** Each plants one fault, and names the one line that speaks of it. */
  const FAULTS: Readonly<
    Record<
      string,
      { readonly plant: () => Variables | Promise<Variables>; readonly line: string; readonly words: RegExp }
    >
  > = {
    "a misspelt variable": {
      plant: () => ({ KESC_BATCH_MAXX: "3" }),
      line: "fail configuration",
      words: /Unknown variable KESC_BATCH_MAXX\. Did you mean KESC_BATCH_MAX\?/,
    },
    "an address beyond the loopback without TLS": {
      plant: () => ({ KESC_HTTP_ADDRESS: "0.0.0.0:0" }),
      line: "fail configuration",
      words: /KESC_HTTP_ADDRESS is 0\.0\.0\.0:0, which other machines can reach, but TLS is off/,
    },
    "the key of another certificate": {
      plant: async () => {
        const given = await tlsVariables();
        writeFileSync(given["KESC_TLS_KEY_FILE"] ?? "", (await authority.issue({ names: LOCAL_NAMES })).key);
        return given;
      },
      line: "fail tls server",
      words: /key values mismatch/,
    },
    "an expired certificate": {
      plant: () => tlsVariables({ to: -1_000 }),
      line: "fail tls server",
      words: /cert\.pem \(KESC_TLS_CERT_FILE\) expired at .* Renew it/,
    },
    "a certificate that expires in an hour": {
      plant: () => tlsVariables({ to: DAY_MILLIS / 24 }),
      line: "warn tls server",
      words: /less than a day\. Renew it/,
    },
    "a server that the gateway does not trust": {
      plant: async () => {
        const given = await tlsVariables();
        writeFileSync(given["KESC_GATEWAY_CA_FILE"] ?? "", (await Authority.create("tests")).pem);
        return given;
      },
      line: "fail tls trust",
      words: /has signed the server's certificate, so the gateway cannot call the server/,
    },
    "a key of TLS that all may read": {
      plant: async () => {
        const given = await tlsVariables();
        chmodSync(given["KESC_TLS_KEY_FILE"] ?? "", 0o644);
        return given;
      },
      line: "warn tls server key",
      words: /has the mode 0644: .* Run: chmod 600/,
    },
    "a database that does not exist": {
      plant: () => ({ DATABASE_URL: `sqlite:${join(place.folder, "none.db")}` }),
      line: "fail database",
      words: /none\.db does not exist\. For a new service run: kesc migrate\. .* kesc restore FILE/,
    },
    "a file that is no database": {
      plant: () => {
        const file = join(place.folder, "text.db");
        writeFileSync(file, "a text\n".repeat(100), { mode: 0o600 });
        return { DATABASE_URL: `sqlite:${file}` };
      },
      line: "fail database",
      words: /it is not an SQLite database/,
    },
    "a database that other users may read": {
      plant: () => {
        chmodSync(place.databaseFile, 0o644);
        return {};
      },
      line: "warn database file",
      words: /kesc\.db has the mode 0644/,
    },
    "a schema of an earlier version": {
      plant: () => {
        edit("DELETE FROM knex_migrations");
        return {};
      },
      line: "fail schema",
      words: /lacks the migrations 0001-first-release.* Run: kesc migrate/,
    },
    "a file without its log": {
      plant: () => {
        edit("PRAGMA journal_mode = DELETE");
        return {};
      },
      line: "warn durability",
      words: /journal_mode = delete: another program has changed the file/,
    },
    "a clock that was ahead": {
      plant: () => {
        edit(`UPDATE books SET last_recorded_at = ${String(Date.now() + DAY_MILLIS)}`);
        return {};
      },
      line: "fail clock",
      words: /The newest row of the books is of .*, which is in the future.*kesc book accept-clock/s,
    },
    "the master key of another database": {
      plant: () => {
        writeFileSync(place.masterKeyFile, `${"A".repeat(43)}\n`, { mode: 0o600 });
        return {};
      },
      line: "fail master key",
      words: /lacks the keys [0-9a-f]{16}, which the books need\. Put the file back/,
    },
    "a master key file that all may read": {
      plant: () => {
        chmodSync(place.masterKeyFile, 0o644);
        return {};
      },
      line: "fail master key",
      words: /cannot be used: others may read or change it\. Run: chmod 600/,
    },
    "a master key file that its group may read": {
      plant: () => {
        chmodSync(place.masterKeyFile, 0o640);
        return {};
      },
      line: "warn master key file",
      words: /master\.key has the mode 0640/,
    },
    "no seal key": {
      plant: () => ({ KESC_SEAL_KEY_FILE: join(place.folder, "none") }),
      line: "warn seal key",
      words: /does not exist, so the books are not sealed\. Run: kesc seal rotate/,
    },
    "a seal key file that is none": {
      plant: () => {
        writeFileSync(place.sealKeyFile, "nothing\n", { mode: 0o600 });
        return {};
      },
      line: "fail seal key",
      words: /cannot be used: line 1 is not "secret"/,
    },
    "a secret of callbacks that is missing": {
      plant: () => ({
        KESC_CALLBACK_BASE_URL: "https://kesc.example.com",
        KESC_CALLBACK_SECRET_FILE: join(place.folder, "none"),
      }),
      line: "fail rails",
      words: /KESC_CALLBACK_SECRET_FILE names a file that cannot be read/,
    },
    "a change on the database, although there are operators": {
      plant: async () => {
        const suspend = ["org", "suspend", "A", "--yes", "--on-database", "--note", "drill"];
        for (const args of [["operator", "create", "Ann", "--role", "admin"], suspend]) {
          expect((await kesc(args, variables)).code).to.equal(0);
        }
        return {};
      },
      line: "warn acts",
      words:
        /^1 change was made on the database .* newest was at 20\S+Z\. Find out .*: kesc org journal org_\w{26} --own$/,
    },
    "a backup that is old": {
      plant: () => {
        const file = join(backups, "one.db.json");
        const old = new Date(Date.now() - 3 * DAY_MILLIS).toISOString();
        writeFileSync(file, readFileSync(file, "utf8").replace(/"created_at": ?"[^"]*"/, `"created_at":"${old}"`));
        return {};
      },
      line: "warn backup",
      words: /72 hours ago\. A loss costs all that came since/,
    },
    "a backup that is cut off": {
      plant: () => {
        writeFileSync(join(backups, "one.db"), "cut off");
        return {};
      },
      line: "fail backup",
      words: /one\.db has 7 bytes in place of \d+/,
    },
    "no backup": {
      plant: () => {
        rmSync(join(backups, "one.db.json"));
        return {};
      },
      line: "fail backup",
      words: /has no backup with a readable manifest\. Make one: kesc backup/,
    },
  };

  for (const [what, { plant, line, words }] of Object.entries(FAULTS)) {
    it(`says in one line what is wrong: ${what}`, async () => {
      const report = await examine(await plant());
      expect(complaints(report)).to.deep.equal([line]);
      const { meaning, remedy } = report.findings.find(({ state }) => state !== "ok") ?? { meaning: "" };
      expect(`${meaning} ${remedy ?? ""}`).to.match(words);
      expect(remedy).to.be.a("string");
    });
  }

  it("warns of the newest change on the database for a month", async () => {
    for (const name of ["Ann", "Ben"]) {
      const made = await kesc(
        ["operator", "create", name, "--role", "admin", "--on-database", "--note", "x"],
        variables,
      );
      expect(made.code).to.equal(0);
    }
    const database = await openDatabaseAt(place.databaseUrl);
    const now = await checkActs(database, Date.now());
    const later = await checkActs(database, Date.now() + 31 * DAY_MILLIS);
    await database.close();
    expect(now).to.include({ state: "warn", remedy: "Find out who made it and why: kesc operator acts" });
    expect(later).to.include({ state: "ok", meaning: now.meaning });
  });

  it("says that a port has another program, and that KESC serves its own", async () => {
    const other = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => {
      other.listen(0, "127.0.0.1", resolve);
    });
    const { port } = other.address() as { readonly port: number };
    const taken = `127.0.0.1:${String(port)}`;
    expect(complaints(await examine({ KESC_GRPC_ADDRESS: taken }))).to.deep.equal(["warn grpc port"]);
    expect(complaints(await examine({ KESC_HTTP_ADDRESS: taken }))).to.deep.equal(["warn http port"]);
    other.close();

    const serve = new RunningKesc(["serve"], variables);
    const { address, grpcAddress = "" } = await serve.ready;
    const served = await examine({ KESC_GRPC_ADDRESS: grpcAddress, KESC_HTTP_ADDRESS: address });
    expect(complaints(served)).to.deep.equal([]);
    expect(served.findings.filter(({ meaning }) => meaning.endsWith("is served."))).to.have.length(2);
    await serve.end();
  });

  it("says that the seal key is not the one that sealed the books", async () => {
    const database = await openDatabaseAt(place.databaseUrl);
    await givenSealer(database.cells[0], {
      privateKey: () => readSealKeys(place.sealKeyFile).privateKey,
    }).sealer.sealAll();
    await database.close();
    expect(complaints(await examine())).to.deep.equal([]);
    const other = { ...variables, KESC_SEAL_KEY_FILE: join(place.folder, "other.key") };
    expect((await kesc(["seal", "rotate"], other)).code).to.equal(0);
    expect(complaints(await doctor(other, "--backups", backups))).to.deep.equal(["fail seal key"]);
    rmSync(place.sealKeyFile);
    expect(complaints(await examine())).to.deep.equal(["fail seal key"]);
  });

  it("says that too few files may be open", async () => {
    const command = `ulimit -n 200 && exec "$0" "$1" doctor --json --backups "$2"`;
    const { stdout } = await promisify(execFile)("sh", ["-c", command, process.execPath, KESC, backups], {
      env: environment(variables),
    });
    const { findings } = JSON.parse(stdout) as Report;
    expect(complaints({ code: 0, findings })).to.deep.equal(["warn open files"]);
  });

  it("says honestly that nothing is known of backups without their folder", async () => {
    expect(complaints(await doctor(variables))).to.deep.equal(["warn backup"]);
  });

  it("judges the disk and the version of Node", () => {
    expect(judgeDisk("/data", 50 * MIB)).to.include({ state: "fail", check: "disk" });
    expect(judgeDisk("/data", 500 * MIB)).to.include({ state: "warn", check: "disk" });
    expect(judgeDisk("/data", 5_000 * MIB)).to.include({ state: "ok", check: "disk" });
    for (const version of ["18.20.0", "20.20.2", "22.23.1", "23.0.0", "24.18.0", "25.9.0", "27.0.0"])
      expect(checkNode(version).state).to.equal("fail");
    for (const version of ["22.23.2", "22.24.0", "24.18.1", "26.10.0"]) expect(checkNode(version).state).to.equal("ok");
  });

  it("examines PostgreSQL: its role, its settings, its clock and its archive", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const postgres = { ...variables, DATABASE_URL: url };
    expect(complaints(await doctor(postgres))).to.deep.equal(["fail schema"]);
    expect((await kesc(["migrate", "--cells", "2"], postgres)).code).to.equal(0);
    const report = await doctor(postgres);
    expect(report.code).to.equal(0);
    expect(complaints(report)).to.deep.equal(["warn role", "warn backup"]);
    const meanings = Object.fromEntries(report.findings.map(({ check, meaning }) => [check, meaning]));
    expect(meanings["role"]).to.match(/may change journal rows: it is a superuser/);
    expect(meanings["backup"]).to.match(/archive_mode is off/);
    expect(meanings["durability"]).to.match(/^fsync = on, full_page_writes = on\./);
    expect(meanings["clock"]).to.match(/agrees with the database's to \d+ ms/);
    expect(meanings["schema"]).to.match(/in 2 cells/);
  });

  it("knows a role of PostgreSQL that may add rows and not change them, and one that lacks a right", async () => {
    const url = await (await sharedPostgres()).createDatabase();
    const postgres = { ...variables, DATABASE_URL: url };
    const run = (sql: string) => withConnection(url, (client) => client.query(sql));
    await run("CREATE ROLE doctor_server LOGIN");
    expect((await kesc(["migrate", "--grant-to", "doctor_server"], postgres)).code).to.equal(0);
    const own = new URL(url);
    own.username = "doctor_server";
    const server = { ...postgres, DATABASE_URL: own.href };
    expect(complaints(await doctor(server))).to.deep.equal(["warn backup"]);
    await run("GRANT UPDATE ON journal TO doctor_server");
    expect(complaints(await doctor(server))).to.deep.equal(["warn role", "warn backup"]);
    await run("REVOKE ALL ON journal FROM doctor_server");
    const report = await doctor(server);
    expect(complaints(report)).to.include("fail role");
    const { meaning = "" } = report.findings.find(({ check }) => check === "role") ?? {};
    expect(meaning).to.match(/lacks INSERT on public\.journal; SELECT on public\.journal\. A server with it fails/);
  });

  it("says that PostgreSQL cannot be reached, and shows no password", async () => {
    const { code, stdout } = await kesc(["doctor"], {
      ...variables,
      DATABASE_URL: "postgres://u:hidden@127.0.0.1:1/k",
    });
    expect(code).to.equal(1);
    expect(stdout)
      .to.match(/^fail {2}database +.*ECONNREFUSED/m)
      .and.not.contain("hidden");
  });
});
