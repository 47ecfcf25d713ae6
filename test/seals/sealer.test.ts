import { hash } from "node:crypto";

import { expect } from "chai";

import { toUnixMillis } from "../../src/domain/values/time.js";
import { leafHash } from "../../src/seals/merkle.js";
import { isSignedBy, parseSignedNote } from "../../src/seals/note.js";
import type { NumberedBook, Seal, SealStore } from "../../src/seals/ports.js";
import { consistencyProof, inclusionProof } from "../../src/seals/proofs.js";
import type { SealerOptions } from "../../src/seals/sealer.js";
import { sealStore } from "../../src/storage/seals/seal-store.js";
import { ENGINES_OF_STAGE, openTestDatabase, type TestDatabase } from "../support/databases.js";
import { type GivenSealer, givenSealer, SEAL_PUBLIC_KEY, sealMemory } from "../support/seals/given-seals.js";
import { unguardedly } from "../support/seals/unguarded-rows.js";
import { GivenBooks } from "../verify/given/books.js";
import { naivePath, naiveProof, naiveRoot } from "./trees.js";

const hex = (bytes: Uint8Array | undefined): string => Buffer.from(bytes ?? []).toString("hex");

for (const engine of ENGINES_OF_STAGE) {
  describe(`the sealer on ${engine}`, () => {
    let opened: TestDatabase;
    let store: SealStore;
    let booksMade = 0;
    // Each test has a book of its own.
    let books: GivenBooks;
    let book: NumberedBook;
    before(async () => {
      opened = await openTestDatabase(engine);
      store = sealStore(opened.cell);
    });
    beforeEach(async () => {
      ({ books, book } = await newBook());
    });
    after(() => opened.dispose());

    async function newBook(): Promise<{ books: GivenBooks; book: NumberedBook }> {
      booksMade += 1;
      const made = await GivenBooks.withoutKey(opened.database, `book ${String(booksMade)}`);
      return { books: made, book: { number: booksMade, organizationId: made.organizationId } };
    }

    /** A sealer of the book of this test. */
    const given = (changes: Partial<SealerOptions> = {}): GivenSealer =>
      givenSealer(opened.cell, { book: book.number, ...changes });
    const seal = (): Promise<void> => given().sealer.sealAll();

    /** Fills the book up to this row. */
    async function fillTo(size: number): Promise<void> {
      const account = await books.createAccount("amina");
      await books.mintOften(account, size - 2);
    }

    async function leafTexts(size: number): Promise<Buffer[]> {
      const texts: Buffer[] = [];
      for (let seq = 1; seq <= size; seq += 1) texts.push(Buffer.from((await store.leaf(book, seq))?.text ?? ""));
      return texts;
    }

    async function newest(): Promise<Seal> {
      const made = await store.seal(book);
      if (made === undefined) throw new Error("the book has no seal");
      return made;
    }

    it("seals all rows of a book, and signs the root", async () => {
      await fillTo(600);
      await seal();
      const made = await newest();
      expect(made.size).to.equal(600);
      expect(hex(made.root)).to.equal(hex(naiveRoot(await leafTexts(600))));
      const note = parseSignedNote(made.note);
      if (note === undefined) throw new Error("it is no note");
      expect(note).to.deep.include({ origin: `kesc.example.com/${books.organizationId}`, size: 600 });
      expect(hex(note.root)).to.equal(hex(made.root));
      expect(isSignedBy(note, [SEAL_PUBLIC_KEY])).to.equal(true);
    });

    it("rests after each page four times as long as the page took, so that mints come first", async () => {
      await fillTo(600);
      let millis = 0;
      const rests: number[] = [];
      const timing = {
        now: () => toUnixMillis(1),
        // A page takes a millisecond.
        monotonicMillis: () => (millis += 1),
        wait: (rest: number) => {
          rests.push(rest);
          return Promise.resolve();
        },
      };
      await given({ timing }).sealer.sealAll();
      expect(rests).to.deep.equal([4, 4, 4]);
    });

    it("has the fields of the row in the leaf, and of the texts only a salted hash", async () => {
      await fillTo(3);
      const leaf = await store.leaf(book, 3);
      const [
        format,
        organization,
        seq,
        previous,
        account,
        ,
        freeze,
        kind,
        debit,
        credit,
        amount,
        after,
        held,
        receipt,
      ] = JSON.parse(leaf?.text ?? "[]") as string[];
      expect([format, organization, seq, previous, freeze, kind]).to.deep.equal([
        ...["kesc-row-1", books.organizationId, "3", "2", "", "transaction.completed"],
      ]);
      expect(account).to.match(/^acc_/);
      expect([debit, credit, amount, after, held, receipt]).to.deep.equal([
        ...["reserve", "available", "100", "100", "0", ""],
      ]);
      const [time, texts, content, ...others] = (JSON.parse(leaf?.text ?? "[]") as string[]).slice(14);
      expect(Number(time)).to.be.greaterThan(0);
      expect(texts).to.equal(hash("sha256", `${leaf?.textsSalt ?? ""}${leaf?.texts ?? ""}`));
      expect(content).to.match(/^[0-9a-f]{64}$/);
      expect(others).to.deep.equal([]);
      expect(JSON.parse(leaf?.texts ?? "[]")).to.have.lengthOf(4);
      expect(leaf?.textsSalt).not.to.equal(leaf?.contentSalt);
    });

    it("gives no salt of a hash that covers personal data", async () => {
      await fillTo(3);
      expect((await store.leaf(book, 2))?.contentSalt).to.equal(undefined);
      expect((await store.leaf(book, 3))?.contentSalt).to.match(/^[0-9a-f]{32}$/);
    });

    it("goes on where it stopped, and proves that the earlier seals were of the same rows", async () => {
      const sizes = [2, 255, 256, 257, 513, 770];
      const account = await books.createAccount("amina");
      let size = 2;
      for (const next of sizes) {
        await books.mintOften(account, next - size);
        size = next;
        await seal();
      }
      const leaves = await leafTexts(770);
      const made = await newest();
      expect(hex(made.root)).to.equal(hex(naiveRoot(leaves)));
      for (const from of sizes) {
        const earlier = await store.seal(book, from);
        expect(hex(earlier?.root), `root of ${String(from)}`).to.equal(hex(naiveRoot(leaves.slice(0, from))));
        const { hashes, rowsRead } = await consistencyProof(store, book, { from, size: 770 });
        expect(hashes.map(hex)).to.deep.equal(naiveProof(from, leaves).map(hex));
        expect(rowsRead, "rows read").to.be.at.most(512);
      }
      for (const seq of [1, 2, 255, 256, 257, 512, 513, 700, 770]) {
        const { hashes, rowsRead } = await inclusionProof(store, book, { seq, size: 770 });
        expect(hashes.map(hex)).to.deep.equal(naivePath(seq - 1, leaves).map(hex));
        expect(rowsRead, "rows read").to.be.at.most(512);
      }
    }).timeout(30_000);

    it("seals nothing if nothing is new", async () => {
      await seal();
      const { store: counting, added } = countingAdds(store);
      await given({ store: counting }).sealer.sealAll();
      expect(added.count).to.equal(0);
    });

    it("notes the sums of the book at that size", async () => {
      await fillTo(5);
      await seal();
      const [row] = await opened.cell.reader.rows(
        `SELECT available_cents, reserve_cents, held_cents FROM ${opened.cell.engine.table("seals")} WHERE size = 5 AND book = ${String(book.number)}`,
      );
      expect(row).to.deep.equal({ available_cents: 300, reserve_cents: 300, held_cents: 0 });
    });

    it("takes another sealer's seal as its own: they made the same", async () => {
      await fillTo(300);
      const [one, other] = [given(), given()];
      await Promise.all([one.sealer.sealAll(), other.sealer.sealAll()]);
      await books.mintOften(await books.createAccount("brian"), 300);
      await Promise.all([one.sealer.sealAll(), other.sealer.sealAll()]);
      expect([...one.alarms, ...other.alarms]).to.deep.equal([]);
      expect(hex((await newest()).root)).to.equal(hex(naiveRoot(await leafTexts(601))));
      await one.sealer.checkSome();
      expect(one.alarms).to.deep.equal([]);
    });

    it("never replaces a tile by a shorter one", async () => {
      await fillTo(1_100);
      await seal();
      const tile = await store.tile(book, { level: 1, index: 0 });
      const late = { size: 700, root: Buffer.alloc(32, 1), note: "late", sealedAt: (await newest()).sealedAt };
      const sums = { reserve: "0", shortfall: "0", charges: "0", available: "0", held: "0", unallocated: "0" };
      await store.add(book, { ...late, sums }, [{ level: 1, index: 0, hashes: Buffer.alloc(64, 1) }]);
      expect(hex(await store.tile(book, { level: 1, index: 0 }))).to.equal(hex(tile));
    });

    it("raises an alarm if another server has sealed another past, and seals no more", async () => {
      await fillTo(10);
      const sums = { reserve: "0", shortfall: "0", charges: "0", available: "0", held: "0", unallocated: "0" };
      const racing: SealStore = {
        ...store,
        add: async (of, own, tiles) => {
          await store.add(of, { ...own, root: Buffer.alloc(32, 1), sums }, []);
          return store.add(of, own, tiles);
        },
      };
      const { sealer, alarms } = given({ store: racing });
      await sealer.sealAll();
      expect(alarms).to.have.lengthOf(1);
      expect(alarms[0]).to.deep.include({ size: 10, firstSeq: 1, lastSeq: 10 });
      expect((await store.books(0)).map(({ number }) => number)).not.to.include(book.number);
    });

    describe("if sealed rows are changed", () => {
      beforeEach(async () => {
        await fillTo(1_100);
        await seal();
        await books.move("mint", await books.createAccount("brian"), "1.00");
      });

      /** Changes rows of the book of this test. */
      const change = (statement: string): Promise<void> =>
        unguardedly(
          opened,
          `${statement} ${statement.includes("WHERE") ? "AND" : "WHERE"} book = ${String(book.number)}`,
        );

      it("signs nothing after a change in the last rows", async () => {
        await change("UPDATE journal SET amount_cents = 200 WHERE seq = 1090");
        const { sealer, alarms } = given();
        await sealer.sealAll();
        expect(alarms.map(({ problem }) => problem)).to.deep.equal(["the rows no longer give the sealed root"]);
        expect((await newest()).size).to.equal(1_100);
        await sealer.sealAll();
        expect(alarms, "one alarm").to.have.lengthOf(1);
        expect((await newest()).size).to.equal(1_100);
      });

      it("finds a change in an old row when its turn comes, and says where", async () => {
        await change("UPDATE journal SET actor = 'key_other' WHERE seq = 300");
        const { sealer, alarms } = given();
        await sealer.checkSome();
        expect(alarms).to.deep.include({
          size: 1_100,
          firstSeq: 257,
          lastSeq: 512,
          problem: "the rows no longer give the sealed hash",
        });
        await sealer.sealAll();
        expect((await newest()).size).to.equal(1_100);
      });

      it("finds a missing row", async () => {
        await change("DELETE FROM journal WHERE seq = 300");
        const { sealer, alarms } = given();
        await sealer.checkSome();
        expect(alarms).to.deep.include({ size: 1_100, firstSeq: 300, lastSeq: 300, problem: "the row 300 is missing" });
      });

      it("finds that the last rows are cut off", async () => {
        await change("DELETE FROM journal WHERE seq > 1099");
        const { sealer, alarms } = given();
        await sealer.sealAll();
        expect(alarms.map(({ problem }) => problem)).to.deep.equal(["the row 1100 is missing"]);
      });

      it("finds a changed tile, also one of rows that were changed with it", async () => {
        await change("UPDATE seal_tiles SET hashes = BYTES(" + "00".repeat(4 * 32) + ")");
        const { sealer, alarms } = given();
        await sealer.sealAll();
        expect(alarms.map(({ problem }) => problem)).to.deep.equal(["the rows no longer give the sealed root"]);
      });

      it("signs nothing after the seals were deleted, as long as it remembers the last one", async () => {
        const memory = sealMemory();
        await given({ memory }).sealer.sealAll();
        await change("UPDATE journal SET amount_cents = 200 WHERE seq = 5");
        await change("DELETE FROM seals");
        await change("DELETE FROM seal_tiles");
        const { sealer, alarms } = given({ memory });
        await sealer.sealAll();
        const past = { size: 1_102, firstSeq: 1, lastSeq: 1_102, problem: "the seal of the first 1102 rows is gone" };
        expect(alarms).to.deep.equal([past]);
        expect(await store.seal(book)).to.equal(undefined);
        // Somebody who deletes the alarm, too, gets another one.
        await change("DELETE FROM seal_alarms");
        await sealer.sealAll();
        expect(alarms).to.deep.equal([past, past]);
      });

      it("signs nothing after a larger seal was put in the place of the remembered one", async () => {
        const memory = sealMemory();
        await given({ memory }).sealer.sealAll();
        await change("UPDATE journal SET amount_cents = 200 WHERE seq = 5");
        await change("DELETE FROM seals");
        await change("DELETE FROM seal_tiles");
        await books.createAccount("carol");
        await seal();
        await books.createAccount("dan");
        const { sealer, alarms } = given({ memory });
        await sealer.sealAll();
        expect(alarms.map(({ problem }) => problem)).to.deep.equal(["the rows no longer give the sealed root"]);
        expect((await newest()).size).to.equal(1_103);
      });

      it("finds a backup that has fewer seals, before its book has a new row", async () => {
        const memory = sealMemory();
        memory.add(new Map([[book.organizationId, { size: 1_200, root: "00".repeat(32) }]]));
        const { sealer, alarms } = given({ memory });
        await sealer.sealAll({ isDue: () => false });
        expect(alarms.map(({ problem }) => problem)).to.deep.equal(["the seal of the first 1200 rows is gone"]);
      });

      it("goes on from a seal that another server made since", async () => {
        const memory = sealMemory();
        await given({ memory }).sealer.sealAll();
        await books.createAccount("carol");
        await seal();
        const { sealer, alarms } = given({ memory });
        await sealer.sealAll();
        expect(alarms).to.deep.equal([]);
        expect(memory.of(book.organizationId)?.size).to.equal(1_103);
      });

      it("finds a missing tile", async () => {
        await change("DELETE FROM seal_tiles");
        const { sealer, alarms } = given();
        await sealer.sealAll();
        expect(alarms.map(({ problem }) => problem)).to.deep.equal(["tile 0 of level 1 is missing or too short"]);
      });

      it("finds nothing if nothing was changed, round after round", async () => {
        const { sealer, alarms } = given();
        for (let round = 0; round < 3; round++) await sealer.checkSome();
        expect(alarms).to.deep.equal([]);
      });
    });

    it("does no harm if it dies between any two steps", async () => {
      await fillTo(300);
      await seal();
      await books.mintOften(await books.createAccount("brian"), 400);
      for (let steps = 0; ; steps++) {
        const { sealer, alarms } = given({ store: dyingAfter(store, steps) });
        const died = await sealer.sealAll().then(
          () => false,
          () => true,
        );
        expect(alarms).to.deep.equal([]);
        if (!died) break;
        expect(steps, "steps").to.be.lessThan(20);
      }
      expect((await newest()).size).to.equal(701);
      expect(hex((await newest()).root)).to.equal(hex(naiveRoot(await leafTexts(701))));
    });

    it("seals the other books when one fails, and tells the failure", async () => {
      await fillTo(300);
      const { book: other } = await newBook();
      const failing: SealStore = {
        ...store,
        // The books of this test.
        books: async (after) => (await store.books(after)).filter(({ number }) => number >= book.number),
        leaves: (of, rows) =>
          of.number === book.number ? Promise.reject(new Error("unreadable")) : store.leaves(of, rows),
      };
      const { sealer } = givenSealer(opened.cell, { store: failing });
      const failure: unknown = await sealer.sealAll().catch((error: unknown) => error);
      expect(failure).to.be.an("error").with.property("message", "unreadable");
      expect(await store.seal(book)).to.equal(undefined);
      expect((await store.seal(other))?.size).to.equal(1);
    });

    it("computes the leaves of at most 256 rows at once", async () => {
      await fillTo(1_000);
      const pages: number[] = [];
      const watched: SealStore = {
        ...store,
        leaves: (of, { firstSeq, lastSeq }) => {
          pages.push(lastSeq - firstSeq + 1);
          return store.leaves(of, { firstSeq, lastSeq });
        },
      };
      await given({ store: watched }).sealer.sealAll();
      expect(pages).to.deep.equal([256, 256, 256, 232]);
    });

    it("has the leaf of a row twice only if the text is the same", async () => {
      await fillTo(3);
      const { hashes } = await store.leaves(book, { firstSeq: 1, lastSeq: 3 });
      const texts = await leafTexts(3);
      expect(hex(hashes)).to.equal(texts.map((text) => hex(leafHash(text.toString()))).join(""));
    });
  });
}

function countingAdds(store: SealStore): { store: SealStore; added: { count: number } } {
  const added = { count: 0 };
  const counting: SealStore = {
    ...store,
    add: (...given) => {
      added.count += 1;
      return store.add(...given);
    },
  };
  return { store: counting, added };
}

/** Fails from the given call on, as if the process had died before it; then also after it. */
function dyingAfter(store: SealStore, steps: number): SealStore {
  let calls = 0;
  const step = <Result>(work: () => Promise<Result>): Promise<Result> => {
    calls += 1;
    return calls > steps ? Promise.reject(new Error("the process has died")) : work();
  };
  return {
    ...store,
    books: (after) => step(() => store.books(after)),
    leaves: (...given) => step(() => store.leaves(...given)),
    tile: (...given) => step(() => store.tile(...given)),
    add: (...given) => step(() => store.add(...given)),
  };
}
