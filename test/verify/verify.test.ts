import { setTimeout as sleep } from "node:timers/promises";

import { expect } from "chai";

import { SCOPES } from "../../src/domain/api-key.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { keys } from "../../src/storage/keys.js";
import { StoredAdministration } from "../../src/storage/operators/administration.js";
import { type Verification, verify } from "../../src/verify/verify.js";
import { makeOperator } from "../operators/given.js";
import { databaseOfEachTest, ENGINES, execute, type TestDatabase } from "../support/databases.js";
import { actOn } from "../support/people.js";
import { byStage } from "../support/stage.js";
import { GivenBooks, makeTraffic, TRAFFIC_ROWS } from "./given/books.js";

const LOOKS = byStage({ test: 5, check: 20 });

/** The counts of an audit that must find nothing. */
async function countsOf(database: TestDatabase["database"]): Promise<Verification["coverage"]> {
  const { firstFindings, coverage } = await verify(database);
  expect(firstFindings).to.deep.equal([]);
  return coverage;
}

for (const engine of ENGINES) {
  describe(`verify on ${engine}`, () => {
    const opened = databaseOfEachTest(engine);
    let database: TestDatabase["database"];
    beforeEach(() => {
      database = opened.database;
    });

    it("holds on an empty database", async () => {
      const counts = await countsOf(database);
      expect(counts).to.include({ organizations: 0, journalRows: 0, lastRecordedAt: 0 });
    });

    it("holds, and counts", async () => {
      await makeTraffic(await GivenBooks.open(database));
      await makeTraffic(await GivenBooks.open(database, "a second organization"));
      const { lastRecordedAt, heads, otherHeads, notAudited, actsWithoutPerson, roots, ...counts } =
        await countsOf(database);
      expect(counts).to.deep.equal({
        organizations: 2,
        journalRows: 2 * TRAFFIC_ROWS,
        accounts: 8,
        transactions: 20,
        idempotencyKeys: 4,
        apiKeys: 6,
        erasedHolders: 2,
        seals: 0,
        publishedBooks: 0,
        cosignatures: undefined,
        reserveCents: 2n * 120_503n,
      });
      expect(heads).to.have.length(2);
      expect([otherHeads, notAudited]).to.deep.equal([[], []]);
      // Without operators nobody else could act.
      expect(actsWithoutPerson).to.include({ count: 0, newest: undefined });
      expect([...roots.keys()]).to.have.members(heads.map(({ organizationId }) => organizationId));
      expect(lastRecordedAt).to.be.within(Date.now() - 3_600_000, Date.now());
    });

    it("names the head of each book", async () => {
      const books = await GivenBooks.open(database);
      await makeTraffic(books);
      const { heads } = (await verify(database)).coverage;
      expect(heads.map(({ organizationId, seq }) => [organizationId, seq])).to.deep.equal([
        [books.organizationId, TRAFFIC_ROWS],
      ]);
      const sql = "SELECT content_hash FROM journal ORDER BY seq DESC LIMIT 1";
      const [row] = await execute<{ content_hash: Buffer }>(opened.address, sql);
      expect(heads[0]?.contentHash).to.equal(row?.content_hash.toString("hex"));
    });

    it("counts the acts of the machine since the first operator, and finds no error in them", async () => {
      const now = (): UnixMillis => toUnixMillis(Date.now());
      const { organizationId } = await GivenBooks.open(database);
      // The rows of before are older than the first operator.
      await sleep(2);
      const stored = new StoredAdministration(database, { now, fourEyes: new Set() });
      const { operator } = await makeOperator(stored, "Ann", ["admin"]);
      expect((await countsOf(database)).actsWithoutPerson).to.include({ count: 0, newest: undefined });

      await makeOperator(stored, "Ben", ["admin"]);
      const second = (await countsOf(database)).actsWithoutPerson;
      expect(second.count).to.equal(1);
      expect(second.newest).to.include({ organizationId: undefined, seq: 2, kind: "operator.created" });

      const key = { organizationId, name: "till", scopes: SCOPES, expiresAt: undefined };
      await keys(database, now).createApiKey(key);
      await actOn(stored, { name: "setOperatorRoles", operatorId: operator.id, roles: ["viewer"] }, operator);
      const { actsWithoutPerson, heads } = await countsOf(database);
      expect(actsWithoutPerson.count).to.equal(2);
      expect(actsWithoutPerson.newest).to.include({ organizationId, seq: heads[0]?.seq, kind: "key.created" });
      expect(actsWithoutPerson.newest?.recordedAt).to.be.within(Date.now() - 60_000, Date.now());
    });

    it("reads on past what one fetch of a cursor brings", async () => {
      const books = await GivenBooks.open(database);
      for (const userId of ["amina", "brian"]) await books.mintOften(await books.createAccount(userId), 2_600);
      expect(await countsOf(database)).to.include({ journalRows: 5_204, reserveCents: 520_000n });
    });

    it("holds while others go on writing", async () => {
      const books = await GivenBooks.open(database);
      const account = await books.createAccount("amina");
      let writing = true;
      const writers = ["0.01", "0.02", "0.03", "0.04"].map(async (amount) => {
        while (writing) await books.move("mint", account, amount);
      });
      for (let times = 0; times < LOOKS; times += 1) {
        expect((await verify(database)).firstFindings).to.deep.equal([]);
        // The writers get a turn of the event loop.
        await sleep(5);
      }
      writing = false;
      await Promise.all(writers);
      expect((await verify(database)).coverage.journalRows).to.be.greaterThan(2);
    });
  });
}
