import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { activateBook, listBooks } from "../../src/storage/books.js";
import { markRestored } from "../../src/storage/restores.js";
import { databaseOfSuite, ENGINES, execute } from "../support/databases.js";
import { newOrganizationId } from "../support/names.js";
import { GivenBooks } from "../verify/given/books.js";

for (const engine of ENGINES) {
  describe(`the states of books (${engine})`, () => {
    const opened = databaseOfSuite(engine);
    let books: readonly GivenBooks[];
    before(async () => {
      books = [];
      for (const name of ["open", "moving", "moved", "also open"]) {
        books = [...books, await GivenBooks.withoutKey(opened.database, name)];
      }
      for (const state of ["moving", "moved"]) {
        const ofName = `SELECT id FROM organizations WHERE name = '${state}'`;
        await execute(
          opened.address,
          `UPDATE books SET state = '${state.toUpperCase()}' WHERE organization_id = (${ofName})`,
        );
      }
    });

    const states = async (): Promise<string[]> => (await listBooks(opened.database)).map(({ state }) => state);
    const mark = (): Promise<number> => markRestored(opened.database, toUnixMillis(Date.now()));
    const activate = (index: number): ReturnType<typeof activateBook> =>
      activateBook(opened.cell, books[index]?.organizationId ?? newOrganizationId());

    it("are listed with the last row of each book", async () => {
      await books[0]?.createAccount("amina");
      const [first, second] = await listBooks(opened.database);
      expect(first).to.deep.include({ name: "open", cell: 0, state: "OPEN", lastSeq: 2 });
      expect(first?.organizationId).to.equal(books[0]?.organizationId);
      expect(second).to.deep.include({ name: "moving", state: "MOVING", lastSeq: 1 });
      const [row] = await execute<{ time: number | string }>(
        opened.address,
        "SELECT MAX(recorded_at) AS time FROM journal",
      );
      expect(Math.max(...(await listBooks(opened.database)).map((book) => book.lastRecordedAt))).to.equal(
        Number(row?.time),
      );
    });

    it("become RESTORED where they were OPEN, and stay so", async () => {
      expect(await mark()).to.equal(2);
      expect(await states()).to.deep.equal(["RESTORED", "MOVING", "MOVED", "RESTORED"]);
      expect(await mark()).to.equal(0);
      await books[0]?.createAccount("brian");
      expect(await states()).to.deep.equal(["RESTORED", "MOVING", "MOVED", "RESTORED"]);
    });

    it("become OPEN by an activation where they were RESTORED, one book at a time", async () => {
      expect(await activate(0)).to.equal("RESTORED");
      expect(await activate(0)).to.equal("OPEN");
      expect(await activate(1)).to.equal("MOVING");
      expect(await activate(2)).to.equal("MOVED");
      expect(await activateBook(opened.cell, newOrganizationId())).to.equal(undefined);
      expect(await states()).to.deep.equal(["OPEN", "MOVING", "MOVED", "RESTORED"]);
    });
  });
}
