import { expect } from "chai";

import type { OrganizationId } from "../../../src/domain/values/ids.js";
import { toUnixMillis } from "../../../src/domain/values/time.js";
import { Ledger } from "../../../src/ledger/ledger.js";
import { type Database, openDatabase } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { BookReader } from "../../attack/chaos/book-reader.js";
import { execute, openTestDatabase, type TestDatabase } from "../../support/databases.js";
import { findingsIn } from "../../support/findings.js";
import { NO_DEADLINE } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { mint } from "../../support/operations/transactions.js";
import { byStage } from "../../support/stage.js";

const SERVERS = 3;
const ORGANIZATIONS = 4;
const ROUNDS = byStage({ test: 12, check: 40 });
const MINTS_IN_A_ROUND = 5;
const ROWS = 1 + SERVERS * (1 + ROUNDS * MINTS_IN_A_ROUND);

const now = (): ReturnType<typeof toUnixMillis> => toUnixMillis(Date.now());

describe("readers of books, while three servers write to all of them (postgres)", () => {
  let opened: TestDatabase;
  let databases: readonly Database[];
  const organizationIds: OrganizationId[] = [];
  before(async () => {
    opened = await openTestDatabase("postgres");
    const all = keys(opened.database, now);
    for (let count = 0; count < ORGANIZATIONS; count += 1) {
      organizationIds.push((await all.createOrganization(`organization ${String(count)}`)).id);
    }
    databases = await Promise.all(Array.from({ length: SERVERS }, () => openDatabase(opened.address)));
  });
  after(async () => {
    await Promise.all(databases.map((database) => database.close()));
    await opened.dispose();
  });

  /** Mints in one book over one server, several calls at once. */
  async function write(ledger: Ledger, organizationId: OrganizationId, server: string): Promise<void> {
    const account = createAccount(organizationId, server);
    await ledger.submit(account, NO_DEADLINE);
    for (let round = 0; round < ROUNDS; round += 1) {
      const mints = Array.from({ length: MINTS_IN_A_ROUND }, (_, index) =>
        mint({
          organizationId,
          accountId: account.newAccountId,
          amount: "1.00",
          reference: `${server} ${String(round)} ${String(index)}`,
        }),
      );
      await Promise.all(mints.map((command) => ledger.submit(command, NO_DEADLINE)));
    }
  }

  it("find prefixes only: at each look the rows continue the book without a gap", async () => {
    const { address } = opened;
    if (address.engine !== "postgres") throw new Error("the database is not PostgreSQL");
    const ledgers = databases.map(
      ({ cells: [cell] }) =>
        new Ledger({ committer: cell.committer, now, batchMax: 8, queueMax: 1_000, onStoreError: () => undefined }),
    );
    const readers = organizationIds.map(
      (organizationId) => new BookReader(address.url, { schema: "public", organizationId }),
    );
    for (const reader of readers) reader.start();
    await Promise.all(
      ledgers.flatMap((ledger, index) => organizationIds.map((id) => write(ledger, id, `server ${String(index)}`))),
    );
    const looks = readers.map(({ polls }) => polls);
    await Promise.all(readers.map((reader) => reader.stop()));
    await Promise.all(ledgers.map((ledger) => ledger.close()));

    expect(readers.flatMap(({ violations }) => violations)).to.deep.equal([]);
    expect(readers.map(({ rows }) => rows)).to.deep.equal(organizationIds.map(() => ROWS));
    // Readers that never looked while the servers wrote would prove nothing.
    expect(Math.min(...looks)).to.be.greaterThan(ROUNDS);
    expect(await findingsIn(opened.database)).to.deep.equal([]);
  });

  it("would tell of a row that does not continue the book", async () => {
    const { address } = opened;
    const [organizationId] = organizationIds;
    if (address.engine !== "postgres" || organizationId === undefined) throw new Error("there is no book to read");
    await execute(
      address,
      "CREATE TEMP TABLE later AS SELECT * FROM journal WHERE kind = 'organization.created'",
      `UPDATE later SET seq = ${String(ROWS + 2)}`,
      "INSERT INTO journal SELECT * FROM later",
    );
    const reader = new BookReader(address.url, { schema: "public", organizationId });
    await reader.stop();
    expect(reader.violations).to.deep.equal([
      `reader of ${organizationId}: row ${String(ROWS + 2)} came after row ${String(ROWS)}`,
      `reader of ${organizationId}: row ${String(ROWS + 2)} is earlier than the row before it`,
    ]);
  });
});
