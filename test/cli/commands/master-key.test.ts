import { readFileSync, statSync } from "node:fs";

import { expect } from "chai";

import { toUnixMillis } from "../../../src/domain/values/time.js";
import { openCurrentDatabase } from "../../../src/startup/open-database.js";
import type { Database, DatabaseAddress } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { addFirstMasterKey, pruneMasterKeys, wrapBooks } from "../../../src/storage/master-keys.js";
import { readMasterKeys } from "../../../src/storage/secrets/master-key.js";
import { RestCaller } from "../../support/callers/rest-caller.js";
import { ENGINES, execute } from "../../support/databases.js";
import { sharedPostgres } from "../../support/postgres.js";
import { type Ended, kesc, kescJson, Place, RunningKesc, type Variables } from "../../support/service/kesc.js";

const PERMISSIONS = 0o777;

for (const engine of ENGINES) {
  describe(`kesc master-key (${engine})`, () => {
    let place: Place;
    let variables: Variables;
    let file: string;
    before(async () => {
      place = await Place.migrated();
      const url = engine === "sqlite" ? place.databaseUrl : await (await sharedPostgres()).createMigratedDatabase();
      variables = { ...place.variables, DATABASE_URL: url };
      file = place.masterKeyFile;
      await newOperator("Ann");
    });
    after(() => {
      place.remove();
    });

    const masterKey = (...args: string[]): Promise<Ended> => kesc(["master-key", ...args], variables);
    const idsInFile = (): string[] => readMasterKeys(file).map(({ id }) => id);

    /** The chain of the operators has a key that the master key encrypts. */
    async function newOperator(name: string): Promise<void> {
      const create = ["operator", "create", name, "--role", "admin", ...ON_DATABASE];
      expect(await kesc(create, variables)).to.include({ code: 0 });
    }

    async function newKey(name: string): Promise<string> {
      await kescJson(["org", "create", "--name", name, ...ON_DATABASE], variables);
      return (
        await kescJson<{ secret: string }>(
          ["key", "create", "--org", name, "--name", "till", "--all-scopes", "--never-expires", ...ON_DATABASE],
          variables,
        )
      ).secret;
    }

    it("rotates under a running server, which then knows old and new organizations", async () => {
      const before = await newKey("before");
      const serve = new RunningKesc(["serve"], variables);
      const rest = new RestCaller((await serve.ready).address);
      const person = { user_id: "amina", phone_number: "0712345678" };
      const statusOf = async (key: string): Promise<number> =>
        (await rest.send("POST", "/accounts", { key, body: person })).status;
      try {
        expect(await statusOf(before)).to.equal(201);
        const [oldest] = idsInFile();
        const { code, stdout } = await masterKey("rotate");
        expect(code).to.equal(0);
        const [newest = ""] = idsInFile();
        expect(idsInFile()).to.deep.equal([newest, oldest]);
        expect(stdout).to.contain(`Added the master key ${newest} to ${file}.\nEncrypted the keys of 1 book(s)`);
        expect(statSync(file).mode & PERMISSIONS).to.equal(0o600);

        expect(await statusOf(before)).to.equal(200);
        // The server has read the file before the rotation.
        expect(await statusOf(await newKey("after"))).to.equal(201);
      } finally {
        expect(await serve.end()).to.equal(0);
        rest.close();
      }
    });

    it("prunes only what no book needs, and only with --yes", async () => {
      const [newest = "", oldest = ""] = idsInFile();
      const { code, stderr } = await masterKey("prune");
      expect(code).to.equal(2);
      expect(stderr).to.contain(`This would remove the master keys ${oldest} from ${file}. Backups`);
      expect(idsInFile()).to.deep.equal([newest, oldest]);

      expect((await masterKey("prune", "--yes")).stdout).to.contain(`Removed the master keys ${oldest} from ${file}.`);
      expect(idsInFile()).to.deep.equal([newest]);
      expect((await masterKey("prune", "--yes")).stdout).to.match(/^Nothing to remove: /);
      await newOperator("Ben");
      expect(idsInFile()).to.deep.equal([newest]);
      expect(await kescJson(["verify"], variables)).to.include({ holds: true });
    });

    it("adds a key and encrypts in two steps, so that other machines get the file in between", async () => {
      const { stdout } = await masterKey("rotate", "--add-only");
      const [added = "", current] = idsInFile();
      expect(stdout).to.contain("Copy the file to all machines").and.contain("rotate --wrap-only");
      expect((await masterKey("prune")).stdout).to.match(/^Nothing to remove: /);
      const wrapped = await masterKey("rotate", "--wrap-only");
      expect(wrapped.stdout).to.contain(`Encrypted the keys of 2 book(s) with the master key ${added}.`);
      expect(idsInFile()).to.deep.equal([added, current]);
      const both = await masterKey("rotate", "--wrap-only", "--add-only");
      expect(both).to.include({ code: 2 });
    });

    it("rotates twice at once without losing a key", async () => {
      const before = idsInFile();
      const ended = await Promise.all([masterKey("rotate"), masterKey("rotate"), newKey("at once")]);
      expect(ended.slice(0, 2).map((each) => (each as Ended).code)).to.deep.equal([0, 0]);
      expect(idsInFile())
        .to.have.length(before.length + 2)
        .and.to.include.members(before);
      expect(await kescJson(["verify"], variables)).to.deep.nested.include({
        holds: true,
        "coverage.organizations": 3,
      });
    });

    it("says what to do about a file that cannot be used", async () => {
      const missing = { ...variables, KESC_MASTER_KEY_FILE: `${file}.missing` };
      for (const args of [["master-key", "rotate"], ["migrate"]]) {
        const { code, stderr } = await kesc(args, missing);
        expect(code).to.equal(1);
        expect(stderr).to.match(/^The master key file .*missing cannot be used: it does not exist\. Put the file back/);
      }
    });
  });
}

const ON_DATABASE = ["--on-database", "--note", "test"];

describe("a rotation of master keys that stops half way (postgres)", () => {
  const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());
  let place: Place;
  let address: DatabaseAddress;
  let database: Database;
  before(async () => {
    place = new Place();
    const url = await (await sharedPostgres()).createDatabase();
    const { masterKeyFile } = place;
    address = { engine: "postgres", url, connectionsMax: 1, masterKeyFile };
    await kesc(["migrate", "--cells", "2"], { ...place.variables, DATABASE_URL: url });
    database = await openCurrentDatabase(address);
    await keys(database, now).createOrganization("in cell 0");
    await keys(database, now).createOrganization("in cell 1");
  });
  after(async () => {
    await database.close();
    place.remove();
  });

  it("leaves a database that opens, and that a second run completes", async () => {
    await execute(
      address,
      "CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'stopped'; END $$",
      "CREATE TRIGGER stop BEFORE UPDATE ON kesc_1.book_keys EXECUTE FUNCTION stop()",
    );
    const added = await addFirstMasterKey(database);
    const error: unknown = await wrapBooks(database).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    expect((error as Error).message).to.equal("stopped");
    expect(await pruneMasterKeys(database)).to.deep.equal([]);
    await (await openCurrentDatabase(address)).close();

    await execute(address, "DROP TRIGGER stop ON kesc_1.book_keys");
    expect(await wrapBooks(database)).to.deep.equal({ masterKeyId: added, books: 1 });
    expect(await wrapBooks(database)).to.deep.equal({ masterKeyId: added, books: 0 });
    expect(await pruneMasterKeys(database)).to.have.length(1);
    expect(readFileSync(address.masterKeyFile, "utf8").trim().split("\n")).to.have.length(1);
    await (await openCurrentDatabase(address)).close();
  });

  it("says what is different by then, and the command that ends it", async () => {
    await execute(
      address,
      `CREATE TRIGGER stop BEFORE UPDATE ON kesc_1.book_keys FOR EACH ROW
         WHEN (old.master_key_id <> new.master_key_id) EXECUTE FUNCTION stop()`,
    );
    const variables = { ...place.variables, DATABASE_URL: address.engine === "postgres" ? address.url : "" };
    const { code, stdout, stderr } = await kesc(["master-key", "rotate"], variables);
    expect(code).to.equal(1);
    expect(stdout).to.match(/^Added the master key \w+ to .*\n$/);
    expect(stderr).to.match(/^The new key is in .* To end the rotation: kesc master-key rotate --wrap-only\n.*stopped/);
    await execute(address, "DROP TRIGGER stop ON kesc_1.book_keys");
    const ended = await kesc(["master-key", "rotate", "--wrap-only"], variables);
    expect(ended).to.include({ code: 0 });
  });
});
