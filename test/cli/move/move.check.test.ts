import { expect } from "chai";

import { activated } from "../../../src/cli/move/activate.js";
import { released } from "../../../src/cli/move/command.js";
import { asWritten } from "../../../src/domain/api-key.js";
import { type Decider, stateOfProposal } from "../../../src/domain/proposal.js";
import type { Actor } from "../../../src/domain/values/actor.js";
import { listBooks } from "../../../src/storage/books.js";
import type { Cell } from "../../../src/storage/database.js";
import { keys } from "../../../src/storage/keys.js";
import { stay } from "../../../src/storage/moves/book-moves.js";
import { moveCode } from "../../../src/storage/moves/codes.js";
import { emptyBook } from "../../../src/storage/moves/empty-book.js";
import { MOVED_TABLES } from "../../../src/storage/moves/tables.js";
import { bookProposals } from "../../../src/storage/operators/book-proposals.js";
import { sealReads } from "../../../src/storage/seals/seal-store.js";
import { verify } from "../../../src/verify/verify.js";
import { ALONE } from "../../support/commands.js";
import { openTestDatabase } from "../../support/databases.js";
import { newProposalId } from "../../support/names.js";
import { createAccount } from "../../support/operations/accounts.js";
import { createApiKey } from "../../support/operations/book.js";
import { sealBooks } from "../../support/seals/given-seals.js";
import { clock, DIRECTIONS, GivenMove, rowsOfBook } from "./given-move.js";

for (const direction of DIRECTIONS) {
  describe(`a move from ${direction}`, () => {
    let given: GivenMove;
    let actor: Actor;
    beforeEach(async () => {
      given = await GivenMove.make(direction);
      const [caller] = await keys(given.source, clock).apiKeys(given.organizationId);
      actor = String(caller?.id) as Actor;
    });
    afterEach(() => given.dispose());

    const stateAt = async (cell: Cell): Promise<string | undefined> => {
      const database = cell === given.from ? given.source : given.target;
      const books = await listBooks(database);
      const book = books.find((each) => each.organizationId === given.organizationId && each.cell === cell.number);
      return book === undefined ? undefined : `${book.state} ${book.move?.phase ?? ""}`.trim();
    };
    const states = async (): Promise<(string | undefined)[]> => [await stateAt(given.from), await stateAt(given.to)];

    /** The words of a command, or of the refusal. */
    const command = async (cell: Cell): Promise<string> => {
      const [result] = await cell.committer.commit(
        [{ ...createAccount(given.organizationId, "late"), actor }],
        clock(),
      );
      if (result?.kind === "refused") return result.refusal.reason;
      return result?.kind ?? "none";
    };

    /** Opens the book at the new place, in the steps that the operator takes. */
    async function handOver(): Promise<void> {
      const { organizationId, source, target, to } = given;
      if (source === target) {
        await activated(target, organizationId, { yes: true });
        return;
      }
      const book = (await listBooks(target)).find((each) => each.organizationId === organizationId);
      if (book === undefined) throw new Error("the book did not arrive");
      const arrived = await moveCode(to, book, "arrived");
      const { code } = await released(source, organizationId, { arrived, to: "there" });
      await activated(target, organizationId, { released: code });
    }

    it("lapses what operators have proposed, whose people belong to another database, and keeps what keys have", async () => {
      const { organizationId, from, to } = given;
      const authority = { ...ALONE, groups: ["write_keys"], newProposalId: newProposalId() } as const;
      const wanted = createApiKey(organizationId, { scopes: ["accounts:write"], authority, actor });
      expect((await from.committer.commit([wanted], clock()))[0]?.kind).to.equal("done");
      const statesAt = async (cell: Cell): Promise<string[]> => {
        const found = await bookProposals(cell, { afterId: undefined, size: 1_001, waits: undefined, now: clock() });
        const open = found.filter(({ proposal }) => proposal.decided?.as !== "APPROVED");
        return open
          .map(({ proposal }) => `${proposal.subject.slice(0, 4)} ${stateOfProposal(proposal, clock())}`)
          .sort();
      };
      expect(await statesAt(from)).to.include.members(["prp_ PENDING", "txn_ PENDING"]);
      await given.export();
      await given.import();
      await handOver();
      expect(await statesAt(to)).to.include.members(["prp_ LAPSED", "txn_ PENDING"]);
      const approves = {
        ...wanted,
        authority: { ...ALONE, person: "opr_b" as Decider, approves: authority.newProposalId },
      };
      const [result] = await to.committer.commit([approves], clock());
      expect(result).to.have.nested.property("refusal.reason", "PROPOSAL_CLOSED");
    });

    it("stores every row of every table as it was, and goes on there", async () => {
      const { end } = await given.export();
      expect(Object.keys(end.rows)).to.have.members(MOVED_TABLES.map(({ name }) => name));
      expect(await states()).to.deep.equal(["MOVING LEAVING", undefined]);
      await given.import();
      expect(await states()).to.deep.equal(["MOVING LEAVING", "MOVING COPIED"]);
      const before = await rowsOfBook(given.from, given.organizationId);
      expect(await rowsOfBook(given.to, given.organizationId)).to.deep.equal(before);

      expect(await command(given.from)).to.equal("BOOK_MOVING");
      expect(await command(given.to)).to.equal("BOOK_MOVING");
      await handOver();
      expect(await states()).to.deep.equal(["MOVED LEFT", "OPEN"]);
      expect(await command(given.from)).to.equal("BOOK_MOVING");
      expect(await command(given.to)).to.equal("done");
      await sealBooks(given.to);
      for (const database of new Set([given.source, given.target])) {
        expect((await verify(database)).firstFindings).to.deep.equal([]);
      }
    }).timeout(60_000);

    it("keeps the seals: the tiles and the newest seal are the same, and the next one follows", async () => {
      const { organizationId } = given;
      const before = await sealReads(given.from).book(organizationId);
      if (before === undefined) throw new Error("there is no book");
      const seal = await sealReads(given.from).seal(before);
      await given.export();
      await given.import();
      await handOver();
      const after = await sealReads(given.to).book(organizationId);
      if (after === undefined) throw new Error("there is no book");
      expect(await sealReads(given.to).seal(after)).to.deep.equal(seal);
      await sealBooks(given.to);
      expect((await sealReads(given.to).seal(after))?.size).to.equal(
        (await listBooks(given.target)).find((book) => book.organizationId === organizationId)?.lastSeq,
      );
    }).timeout(60_000);

    it("makes the keys valid at the new place once it is open, with their old texts", async () => {
      const at = (database: GivenMove["source"]): Promise<unknown> =>
        keys(database, clock).apiKeyWithSecret(given.secret);
      expect(await at(given.source)).to.include({ cell: given.from.number });
      await given.export();
      await given.import();
      expect(await at(given.source)).to.include({ cell: given.from.number });
      if (given.source !== given.target) expect(await at(given.target)).to.equal(undefined);
      await handOver();
      expect(await at(given.target)).to.include({ cell: given.to.number, organizationId: given.organizationId });
      if (given.source !== given.target) expect(await at(given.source)).to.equal("moved");
      const names = (await keys(given.target, clock).organizations()).map((each) => asWritten(each).name);
      expect(names).to.have.members(["stranger", "Duka"]);
      const { length } = await keys(given.target, clock).apiKeys(given.organizationId);
      expect(length).to.equal(5);
    }).timeout(60_000);

    it("can be given up before it is handed over, and never after", async () => {
      const first = await given.export();
      await given.import();
      await stay(given.from, given.organizationId);
      await stay(given.from, given.organizationId);
      expect(await states()).to.deep.equal(["OPEN", "MOVING COPIED"]);
      expect(await command(given.from)).to.equal("done");
      const late = await handOver().catch(String);
      if (given.source !== given.target) expect(late).to.match(/Error: .*Nothing was done/);
      expect(await states()).to.deep.equal(["OPEN", "MOVING COPIED"]);

      const again = await given.export("again.ndjson");
      expect(again.header.moveId).not.to.equal(first.header.moveId);
      expect(await given.import("again.ndjson").catch(String)).to.match(/An import of another file .* is not finished/);
      await emptyBook(given.to, given.organizationId, clock);
      expect(await stateAt(given.to)).to.equal("MOVED EMPTIED");
      await given.import("again.ndjson");
      await handOver();
      expect(await states()).to.deep.equal(["MOVED LEFT", "OPEN"]);
      expect(await stay(given.from, given.organizationId).catch(String)).to.match(/The book is MOVED \(LEFT\)/);
    }).timeout(60_000);

    it("opens one copy alone, however often the file was imported", async () => {
      const { organizationId, source } = given;
      await given.export();
      await given.import();
      const third = await openTestDatabase("sqlite");
      try {
        await given.import("book.ndjson", { to: third.cell });
        const codeAt = async (database: GivenMove["source"], cell: Cell): Promise<string> => {
          const own = (await listBooks(database)).filter((each) => each.cell === cell.number);
          const book = own.find((each) => each.organizationId === organizationId);
          if (book === undefined) throw new Error("the book did not arrive");
          return moveCode(cell, book, "arrived");
        };
        const arrived = await codeAt(third.database, third.cell);
        expect(arrived).not.to.equal(await codeAt(given.target, given.to));
        const wrong = `${arrived.slice(0, -1)}${arrived.endsWith("0") ? "1" : "0"}`;
        const refusal = await released(source, organizationId, { arrived: wrong, to: "there" }).catch(String);
        expect(refusal).to.match(/not the code/);
        expect((await states())[0]).to.equal("MOVING LEAVING");

        const { code } = await released(source, organizationId, { arrived, to: "there" });
        expect((await released(source, organizationId, { arrived, to: "there" })).code).to.equal(code);
        await activated(third.database, organizationId, { released: code });
        expect((await listBooks(third.database))[0]?.state).to.equal("OPEN");

        expect(await handOver().catch(String)).to.match(/The book was given to another import of the file/);
        expect(await states()).to.deep.equal(["MOVED LEFT", "MOVING COPIED"]);
      } finally {
        await third.dispose();
      }
    }).timeout(60_000);

    it("leaves only a tombstone when the old rows are removed", async () => {
      await given.export();
      await given.import();
      await handOver();
      await emptyBook(given.from, given.organizationId, clock);
      expect(await states()).to.deep.equal(["MOVED EMPTIED", "OPEN"]);
      const rows = await rowsOfBook(given.from, given.organizationId);
      expect(Object.keys(rows)).to.deep.equal(["organizations", "books", "book_keys"]);
      for (const database of new Set([given.source, given.target])) {
        expect((await verify(database)).firstFindings).to.deep.equal([]);
      }
    }).timeout(60_000);
  });
}
