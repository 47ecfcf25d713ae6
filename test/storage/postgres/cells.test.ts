import { expect } from "chai";

import type { Organization } from "../../../src/domain/api-key.js";
import type { Keys } from "../../../src/ledger/ports/keys.js";
import { type Database, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { migrate } from "../../../src/storage/migrate.js";
import { reads } from "../../../src/storage/reads.js";
import { revokeApiKey } from "../../support/as-machine.js";
import { execute } from "../../support/databases.js";
import { TEST_MASTER_KEY_FILE } from "../../support/master-key.js";
import { NOW } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { sharedPostgres } from "../../support/postgres.js";

type Address = Parameters<typeof openDatabase>[0] & { engine: "postgres" };

/** An empty database that has these schemas. */
async function withSchemas(...schemas: readonly string[]): Promise<Address> {
  const url = await (await sharedPostgres()).createDatabase();
  const address = { engine: "postgres", url, connectionsMax: 5, masterKeyFile: TEST_MASTER_KEY_FILE } as const;
  await execute(address, ...schemas.map((schema) => `CREATE SCHEMA ${schema}`));
  return address;
}

describe("the cells of a PostgreSQL database", () => {
  for (const [what, schemas, engines] of [
    ["one, in the schema public", [], ["public"]],
    ["one, in a schema of its own", ["kesc_0"], ["kesc_0"]],
    ["as many as schemas, ordered by number", ["kesc_1", "kesc_0", "other", "kesc_x"], ["kesc_0", "kesc_1"]],
    [
      "ordered by number past nine",
      Array.from({ length: 11 }, (_, number) => `kesc_${String(number)}`),
      Array.from({ length: 11 }, (_, number) => `kesc_${String(number)}`),
    ],
  ] as const) {
    it(`are ${what}`, async () => {
      const database = await openDatabase(await withSchemas(...schemas));
      try {
        expect(database.cells.map(({ engine }) => engine.schema)).to.deep.equal(engines);
        expect(database.cells.map(({ number }) => number)).to.deep.equal(engines.map((_, index) => index));
      } finally {
        await database.close();
      }
    });
  }

  for (const [schemas, missing] of [
    [["kesc_1"], "kesc_0"],
    [["kesc_0", "kesc_2"], "kesc_1"],
  ] as const) {
    it(`are not opened when ${missing} is missing beside ${schemas.join(" and ")}`, async () => {
      const error: unknown = await openDatabase(await withSchemas(...schemas)).catch((reason: unknown) => reason);
      expect(String(error)).to.contain(`the schema ${missing} is missing, but a later one exists`);
    });
  }
});

describe("organizations and keys in three cells", () => {
  let database: Database;
  let own: Keys;
  before(async () => {
    database = await openDatabase(await withSchemas("kesc_0", "kesc_1", "kesc_2"));
    for (const cell of database.cells) await migrate(cell);
    let millis: number = NOW;
    own = keys(database, () => (millis += 1) as typeof NOW);
  });
  after(() => database.close());

  const created: Organization[] = [];
  /** Creates an organization; returns its cell. */
  async function cellOfNew(given?: { cell: number }): Promise<number> {
    const organization = await own.createOrganization(`organization ${String(created.length)}`, given);
    created.push(organization);
    return organization.cell;
  }

  it("fill the emptiest cell first, unless a cell is given", async () => {
    expect(await cellOfNew()).to.equal(0);
    expect(await cellOfNew()).to.equal(1);
    expect(await cellOfNew()).to.equal(2);
    expect(await cellOfNew({ cell: 0 })).to.equal(0);
    expect(await cellOfNew({ cell: 1 })).to.equal(1);
    expect(await cellOfNew()).to.equal(2);
    expect(await cellOfNew()).to.equal(0);
  });

  for (const cell of [3, -1, 0.5]) {
    it(`refuse a cell that does not exist: ${String(cell)}`, async () => {
      const error: unknown = await own.createOrganization("nowhere", { cell }).catch((reason: unknown) => reason);
      expect(error).to.be.instanceOf(RangeError);
      expect(await own.organizations()).to.have.lengthOf(created.length);
    });
  }

  it("are listed from all cells, oldest first, and found in each", async () => {
    expect(await own.organizations()).to.deep.equal(created);
    for (const organization of created) expect(await own.organization(organization.id)).to.deep.equal(organization);
  });

  it("have a book in their own cell alone, with numbers from 1", async () => {
    for (const cell of database.cells) {
      const table = (name: string): string => cell.engine.table(name);
      const rows = await cell.reader.rows(
        `SELECT number, organization_id, last_seq, kind, seq FROM ${table("books")}
         JOIN ${table("journal")} ON book = number ORDER BY number`,
      );
      const inCell = created.filter((organization) => organization.cell === cell.number);
      expect(rows).to.deep.equal(
        inCell.map(({ id }, index) => ({
          number: index + 1,
          organization_id: id,
          last_seq: 1,
          kind: "organization.created",
          seq: 1,
        })),
      );
    }
  });

  it("have accounts in their own cell alone, though two books have one number", async () => {
    const [first, second] = created;
    if (first === undefined || second === undefined) throw new Error("no organizations");
    const command = createAccount(first.id, "user");
    const [result] = (await database.cells[first.cell]?.committer.commit([command], NOW)) ?? [];
    expect(result?.kind, JSON.stringify(result)).to.equal("done");
    const found = await Promise.all(database.cells.map((cell) => reads(cell).account(first.id, command.newAccountId)));
    expect(found.map((account) => account?.id)).to.deep.equal([command.newAccountId, undefined, undefined]);
  });

  describe("a key", () => {
    const key = (organization: Organization | undefined): ReturnType<Keys["createApiKey"]> => {
      if (organization === undefined) throw new Error("no organization");
      return own.createApiKey({
        organizationId: organization.id,
        name: "till",
        scopes: ["accounts:read"],
        expiresAt: undefined,
      });
    };

    for (const cell of [0, 1, 2]) {
      it(`of an organization in cell ${String(cell)} names that cell, with 32 random bytes behind it`, async () => {
        const organization = created.find((one) => one.cell === cell);
        const made = await key(organization);
        expect(made.secret).to.match(new RegExp(`^kesc_${String(cell)}_[A-Za-z0-9_-]{43}$`));
        expect(made.key).to.include({ cell, organizationId: organization?.id });
        expect(await own.apiKeyWithSecret(made.secret)).to.deep.equal(made.key);
        expect(await own.apiKeys(made.key.organizationId)).to.deep.equal([made.key]);
      });
    }

    it("is unknown under any other name", async () => {
      const { secret } = await key(created[0]);
      const random = secret.slice("kesc_0_".length);
      for (const other of [
        `kesc_1_${random}`,
        `kesc_2_${random}`,
        `kesc_3_${random}`,
        `kesc_00_${random}`,
        `kesc__${random}`,
        `kesc_${random}`,
        `kesc_-0_${random}`,
        `KESC_0_${random}`,
        random,
        secret.slice(0, -1),
        `${secret}A`,
        `${secret}\n`,
        ` ${secret}`,
        "",
      ]) {
        expect(await own.apiKeyWithSecret(other), JSON.stringify(other)).to.equal(undefined);
      }
    });

    it("is revoked in whichever cell it is", async () => {
      const made = await key(created[2]);
      const { revokedAt } = await revokeApiKey(database, made.key.id);
      expect(revokedAt).to.be.a("number");
      expect(await own.apiKeyWithSecret(made.secret)).to.deep.include({ id: made.key.id, cell: 2, revokedAt });
    });

    it("is made once for the name of a certificate, also in two cells at once", async () => {
      const make = async (organization: Organization | undefined): Promise<string> => {
        if (organization === undefined) throw new Error("no organization");
        const limits = { scopes: ["accounts:read"], expiresAt: undefined } as const;
        const given = { organizationId: organization.id, certificateName: "spiffe://cells", ...limits };
        return (await own.createCertificateKey(given)).key === undefined ? "held" : "made";
      };
      expect(await Promise.all([make(created[0]), make(created[1])])).to.have.members(["made", "held"]);
    });

    it("is not made for an organization that does not exist", async () => {
      const unknown = { ...(created[0] as Organization), id: "org_01jd2r6p5vf8ksw3xhb1z7q4ye" as Organization["id"] };
      const error: unknown = await key(unknown).catch((reason: unknown) => reason);
      expect(String(error)).to.contain(`there is no organization ${unknown.id}`);
    });
  });
});
