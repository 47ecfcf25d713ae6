import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect } from "chai";

import type { DatabaseAddress } from "../../src/storage/database.js";
import { ENGINES, execute } from "../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../support/master-key.js";
import { availableOf, expectBooksHold, newAccount } from "../support/service/each-engine.js";
import { Service } from "../support/service/service.js";

const OTHER_ACCOUNTS = 60;

type PersonalBytes = Readonly<Record<string, Buffer>>;

for (const engine of ENGINES) {
  describe(`kesc account erase (${engine})`, () => {
    let service: Service;
    let address: DatabaseAddress;
    let accountId: string;
    let personal: PersonalBytes;

    before(async () => {
      service = await Service.start(engine);
      address = addressOf(service.databaseUrl);
      for (let index = 0; index < OTHER_ACCOUNTS; index += 1) {
        if (index === OTHER_ACCOUNTS / 2) accountId = await newPerson();
        await newAccount(service);
      }
      personal = await personalBytes();
      // Statistics must not keep the values either.
      if (engine === "postgres") await execute(address, "ANALYZE");
    });
    after(() => service.dispose());

    /** Creates an account whose values no other account has. */
    async function newPerson(): Promise<string> {
      const { json } = await service.rest("POST", "/accounts", {
        body: { user_id: "wanjiku-of-kibera-17", phone_number: "0798765432", email: "wanjiku@kibera.example" },
      });
      return String(json["id"]);
    }

    async function personalBytes(): Promise<PersonalBytes> {
      const columns = "user_id, phone_number, phone_number_index, email, email_index, content_salt";
      const [row] = await execute<Record<string, string | Buffer>>(
        address,
        `SELECT ${columns} FROM account_holders WHERE account_id = '${accountId}'`,
      );
      return Object.fromEntries(Object.entries(row ?? {}).map(([name, value]) => [name, Buffer.from(value)]));
    }

    /** The columns whose noted bytes are somewhere in the files of the database. */
    async function foundInFiles(): Promise<string[]> {
      const files = await filesOf(address);
      const contents = files.map((file) => readFileSync(file));
      return Object.keys(personal).filter((name) => {
        const bytes = personal[name] ?? Buffer.alloc(0);
        return contents.some((content) => content.includes(bytes));
      });
    }

    function erase(...options: string[]): ReturnType<Service["kesc"]> {
      return service.kesc("account", "erase", accountId, "--org", "A", "--note", "request 17", ...options);
    }

    const move = (kind: "mint" | "redeem", reference: string): ReturnType<Service["rest"]> =>
      service.rest("POST", `/transactions/${kind}`, { body: { account_id: accountId, amount: 12.5, reference } });

    it("finds the personal data in the files before the erasure", async () => {
      expect(Object.keys(personal)).to.have.length(6);
      expect(await foundInFiles()).to.deep.equal(Object.keys(personal));
    });

    it("refuses an account with a balance, and an account that does not exist", async () => {
      expect((await move("mint", "before")).status).to.equal(201);
      const { code, stderr } = await erase("--yes");
      expect(code).to.equal(1);
      expect(stderr).to.equal(
        `Account ${accountId} is not empty: 12.50 available, 0.00 held. Redeem the balance first.\n`,
      );
      expect((await move("redeem", "out")).status).to.equal(201);

      const unknown = "acc_01jd2r6p5vf8ksw3xhb1z7q4ye";
      for (const [id, org] of [
        [unknown, "A"],
        [accountId, "B"],
      ] as const) {
        const ended = await service.kesc("account", "erase", id, "--org", org, "--note", "x", "--yes");
        expect(ended.code).to.equal(1);
        expect(ended.stderr).to.equal(`Account ${id} was not found.\n`);
      }
    });

    it("only says what it would do without --yes", async () => {
      const { code, stderr } = await erase();
      expect(code).to.equal(2);
      expect(stderr).to.match(/^This would erase the user_id, .* Nothing was done\. To do it, add --yes\.\n$/);
      expect((await service.rest("GET", `/accounts/${accountId}`)).json["user_id"]).to.equal("wanjiku-of-kibera-17");
    });

    it("leaves no byte of the personal data in the files, while the service runs", async () => {
      const erased = await erase("--yes");
      expect(erased.stdout, erased.stderr)
        .to.contain(`Erased the personal data of ${accountId}.`)
        .and.contain("To remove them, where the database is: kesc account vacuum\n");
      const { code, stdout, stderr } = await service.kesc("account", "vacuum");
      expect(code, stderr).to.equal(0);
      expect(stdout).to.contain("no longer hold the old bytes").and.contain("Backups and archived logs still hold");
      expect(await foundInFiles()).to.deep.equal([]);
    });

    it("repeats safely", async () => {
      const { code, stdout } = await erase("--yes");
      expect(code).to.equal(0);
      expect(stdout).to.contain(`The personal data of ${accountId} was erased before.`);
    });

    it("keeps the books, and the account still mints and redeems", async () => {
      await expectBooksHold(service);
      expect((await move("mint", "after")).status).to.equal(201);
      expect(await availableOf(service, accountId)).to.equal("12.50");
      expect((await move("redeem", "after, out")).status).to.equal(201);
      const { json } = await service.rest("GET", `/accounts/${accountId}`);
      expect(json).to.include({ user_id: null, phone_number: null, email: null, status: "active" });
      await expectBooksHold(service);
      expect(await foundInFiles()).to.deep.equal([]);
    });

    it("lets the same user open another account", async () => {
      const second = await newPerson();
      expect(second).to.match(/^acc_/).and.not.equal(accountId);
    });
  });
}

function addressOf(url: string): DatabaseAddress {
  return url.startsWith("sqlite:")
    ? { engine: "sqlite", filename: url.slice("sqlite:".length), masterKeyFile: TEST_MASTER_KEY_FILE }
    : { engine: "postgres", url, connectionsMax: 1, masterKeyFile: TEST_MASTER_KEY_FILE };
}

/**
 * The files of an SQLite database, or all files of a PostgreSQL database: tables, indexes,
 * statistics and what else it keeps. A checkpoint first brings the pages to disk, and removes
 * files that are no longer in use.
 */
async function filesOf(address: DatabaseAddress): Promise<readonly string[]> {
  if (address.engine === "sqlite") {
    return ["", "-wal", "-shm"].map((ending) => `${address.filename}${ending}`).filter((file) => existsSync(file));
  }
  await execute(address, "CHECKPOINT");
  const [place] = await execute<{ folder: string; path: string }>(
    address,
    "SELECT current_setting('data_directory') AS folder, pg_relation_filepath('account_holders') AS path",
  );
  const folder = join(place?.folder ?? "", place?.path ?? "", "..");
  const files = readdirSync(folder).map((name) => join(folder, name));
  expect(files).to.include(join(place?.folder ?? "", place?.path ?? ""));
  return files;
}
