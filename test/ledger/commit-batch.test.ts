import { expect } from "chai";

import type { BookHead } from "../../src/domain/book.js";
import type { Command } from "../../src/domain/operations.js";
import { NO_CENTS, toCents } from "../../src/domain/values/cents.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import { toUnixMillis, type UnixMillis } from "../../src/domain/values/time.js";
import { commitBatch } from "../../src/ledger/commit-batch.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import { type Changes, type LedgerStore, type Loaded, StoreError } from "../../src/ledger/ports/store.js";
import { erasedHolder, givenAccount, givenHead, givenHolder, givenTransaction, NO_ROWS } from "../support/given.js";
import { newOrganizationId, NOW, ORGANIZATION, SLOW_RAIL, STRANGER } from "../support/names.js";
import {
  closeAccount,
  createAccount,
  eraseAccount,
  setAccountTier,
  setLimits,
  updateAccount,
} from "../support/operations/accounts.js";
import { mint, type Movement, redeem } from "../support/operations/transactions.js";

const DAY_MILLIS = 86_400_000;

const account = givenAccount({ availableCents: toCents(10_000), heldCents: toCents(0) });
const hers = givenAccount({ organizationId: STRANGER });

const AGAIN = { organizationId: ORGANIZATION, accountId: account.id, reference: "again" };

const at = (millis: number): UnixMillis => toUnixMillis(NOW + millis);

function mintTo(given: Partial<Movement> = {}): Command {
  return mint({ organizationId: ORGANIZATION, accountId: account.id, amount: "1.00", reference: "new", ...given });
}

/** Commits one batch at `NOW` against these rows. Returns the results and what was saved. */
async function commit(
  commands: readonly Command[],
  { clock = NOW, ...rows }: Partial<Loaded> & { clock?: UnixMillis } = {},
): Promise<{ results: readonly CommandResult[]; saved: readonly Changes[]; words: readonly string[] }> {
  const saved: Changes[] = [];
  const loaded: Loaded = {
    ...NO_ROWS,
    books: [givenHead(), givenHead({ organizationId: STRANGER, lastSeq: 7 })],
    accounts: [account, hers],
    accountHolders: [givenHolder(account), givenHolder(hers)],
    ...rows,
  };
  const store: LedgerStore = {
    transact: (work) =>
      work({
        load: () => Promise.resolve(loaded),
        save: (changes) => {
          saved.push(changes);
          return Promise.resolve();
        },
      }),
  };
  const results = await commitBatch(store, commands, clock);
  return { results, saved, words: results.map(wordOf) };
}

function wordOf(result: CommandResult): string {
  if (result.kind === "refused") return result.refusal.reason;
  if (result.kind === "bug") return String(result.error);
  return result.replayed ? "replayed" : "done";
}

/** The rows of the journal, as "seq recorded_at", by organization. */
function rowsOf(saved: readonly Changes[], organizationId = ORGANIZATION): string[] {
  return saved
    .flatMap(({ entries }) => entries)
    .filter(({ entry }) => entry.organizationId === organizationId)
    .map(({ seq, entry }) => `${String(seq)} ${String(entry.recordedAt - NOW)}`);
}

describe("a batch numbers the rows of each book", () => {
  it("from the last one on, whatever other books of the batch do", async () => {
    const { words, saved } = await commit([
      mintTo({ reference: "a" }),
      mintTo({ organizationId: STRANGER, accountId: hers.id }),
      mintTo({ reference: "b" }),
    ]);
    expect(words).to.deep.equal(["done", "done", "done"]);
    expect(rowsOf(saved)).to.deep.equal(["2 0", "3 0"]);
    expect(rowsOf(saved, STRANGER)).to.deep.equal(["8 0"]);
    expect(saved[0]?.books).to.deep.equal([
      givenHead({
        lastSeq: 3,
        lastRecordedAt: NOW,
        sums: { ...givenHead().sums, reserve: 200, available: 200 },
      }),
      givenHead({
        organizationId: STRANGER,
        lastSeq: 8,
        lastRecordedAt: NOW,
        sums: { ...givenHead().sums, reserve: 100, available: 100 },
      }),
    ]);
  });

  it("and gives a new row the number of the entry that created it", async () => {
    const { saved } = await commit([mintTo({ reference: "a" }), mintTo({ reference: "b" })]);
    const created = saved[0]?.tables.transactions.created;
    expect(created?.map(({ row, createdBy }) => [row.reference, createdBy?.seq])).to.deep.equal([
      ["a", 2],
      ["b", 3],
    ]);
  });

  it("and gives an account the number of its newest row, which is its version for the next command", async () => {
    const update = (phoneNumber: string, etag: string): Command =>
      updateAccount(ORGANIZATION, account.id, { phoneNumber: phoneNumber as PhoneNumber, etag });
    const batch = [mintTo(), update("+254733111222", "2"), update("+254733111333", "2")];
    const { words, results } = await commit(batch);
    expect(words).to.deep.equal(["done", "done", "ETAG_MISMATCH"]);
    expect(results[1]).to.have.nested.property("resource.lastSeq", 3);
    expect(results[2]).to.have.nested.property("refusal.etag", "3");
  });

  it("saves nothing when nothing has changed", async () => {
    const closed = givenAccount({ status: "CLOSED", availableCents: NO_CENTS, heldCents: NO_CENTS });
    const accounts = [account, closed];
    const { words, saved } = await commit(
      [
        closeAccount(ORGANIZATION, closed.id),
        redeem({ organizationId: ORGANIZATION, accountId: account.id, amount: "100.01", reference: "out" }),
      ],
      { accounts, accountHolders: accounts.map((each) => givenHolder(each)) },
    );
    expect(words).to.deep.equal(["replayed", "INSUFFICIENT_FUNDS"]);
    expect(saved).to.deep.equal([]);
  });

  it("decides a dry run as any other command, saves nothing of it, and shows it to no later command", async () => {
    const redeemAll = redeem({
      organizationId: ORGANIZATION,
      accountId: account.id,
      amount: "100.00",
      reference: "all",
    });
    const dry = { ...redeemAll, dryRun: true };
    const { words, saved } = await commit([dry, redeemAll, dry, redeem({ ...AGAIN, amount: "0.01" })]);
    expect(words).to.deep.equal(["done", "done", "replayed", "INSUFFICIENT_FUNDS"]);
    expect(rowsOf(saved)).to.deep.equal(["2 0"]);
    expect((await commit([dry])).saved).to.deep.equal([]);
  });

  it("calls it a bug when an organization has no book, and commits the others", async () => {
    const lost = newOrganizationId();
    const { words, saved } = await commit([mintTo({ organizationId: lost }), mintTo()]);
    expect(words).to.deep.equal([`Error: the organization ${lost} has no book`, "done"]);
    expect(rowsOf(saved)).to.deep.equal(["2 0"]);
  });
});

describe("the times along a book", () => {
  const books = (millis: number): { books: readonly BookHead[] } => ({
    books: [givenHead({ lastRecordedAt: at(millis) }), givenHead({ organizationId: STRANGER })],
  });

  it("never decrease: a slow clock uses the time of the last row, in that book alone", async () => {
    const batch = [
      mintTo({ reference: "a" }),
      mintTo({ organizationId: STRANGER, accountId: hers.id }),
      mintTo({ reference: "b" }),
    ];
    const { saved } = await commit(batch, books(5_000));
    expect(rowsOf(saved)).to.deep.equal(["2 5000", "3 5000"]);
    expect(rowsOf(saved, STRANGER)).to.deep.equal(["2 0"]);
    expect(saved[0]?.tables.transactions.created[0]?.row.createdAt).to.equal(at(5_000));
  });

  it("follow a clock that is not slow", async () => {
    const { saved } = await commit([mintTo()], books(-1));
    expect(rowsOf(saved)).to.deep.equal(["2 0"]);
  });

  it("let a clock be exactly 60 seconds slow", async () => {
    const { words, saved } = await commit([mintTo()], books(60_000));
    expect(words).to.deep.equal(["done"]);
    expect(rowsOf(saved)).to.deep.equal(["2 60000"]);
  });

  it("go on with the time of a newest row that an operator has accepted, and refuse one a minute later", async () => {
    const accepted = (lastRecordedAt: number) => ({
      books: [givenHead({ lastRecordedAt: at(lastRecordedAt), clockAcceptedAt: at(DAY_MILLIS) })],
    });
    const { words, saved } = await commit([mintTo(), mintTo({ reference: "b" })], accepted(DAY_MILLIS));
    expect(words).to.deep.equal(["done", "done"]);
    expect(rowsOf(saved)).to.deep.equal([`2 ${String(DAY_MILLIS)}`, `3 ${String(DAY_MILLIS)}`]);
    expect((await commit([mintTo()], accepted(DAY_MILLIS + 60_000))).words).to.deep.equal(["done"]);
    expect((await commit([mintTo()], accepted(DAY_MILLIS + 60_001))).words).to.deep.equal(["CLOCK_BEHIND"]);
  });

  it("refuse a clock that is one millisecond slower, for the commands of that book alone", async () => {
    const batch = [mintTo(), mintTo({ organizationId: STRANGER, accountId: hers.id })];
    const { results, words, saved } = await commit(batch, books(60_001));
    expect(results[0]).to.deep.equal({
      kind: "refused",
      refusal: { reason: "CLOCK_BEHIND", behindMillis: 60_001 },
    });
    expect(words[1]).to.equal("done");
    expect(rowsOf(saved)).to.deep.equal([]);
  });
});

describe("the clock of the server, beside that of the database", () => {
  for (const [what, ahead] of [
    ["exactly 2 seconds ahead", 2_000],
    ["behind, which the times of the book decide", -3_600_000],
  ] as const) {
    it(`may be ${what}`, async () => {
      const { words } = await commit([mintTo()], { begunAt: at(-ahead) });
      expect(words).to.deep.equal(["done"]);
    });
  }

  it("may not be 2001 ms ahead: the batch is rejected, and nothing is saved", async () => {
    let saves = 0;
    const books = [givenHead()];
    const store: LedgerStore = {
      transact: (work) =>
        work({
          load: () => Promise.resolve({ ...NO_ROWS, books, begunAt: at(-2_001) }),
          save: () => {
            saves += 1;
            return Promise.resolve();
          },
        }),
    };
    const error: unknown = await commitBatch(store, [createAccount(ORGANIZATION, "new")], NOW).catch(
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(StoreError).and.have.property("kind", "unavailable");
    expect(String((error as StoreError).cause)).to.contain("2001 ms ahead of the database's");
    expect(saves).to.equal(0);
  });
});

describe("the state of a book", () => {
  const inState = (given: Partial<BookHead>): { books: readonly BookHead[] } => ({
    books: [givenHead(given), givenHead({ organizationId: STRANGER })],
  });

  for (const state of ["MOVING", "MOVED"] as const) {
    it(`${state}: refuses its commands, replays among them, and takes those of other books`, async () => {
      const earlier = givenTransaction({ accountId: account.id });
      const replayed = mintTo({ amount: "50.00", reference: "earlier" });
      const batch = [mintTo(), replayed, mintTo({ organizationId: STRANGER, accountId: hers.id })];
      const { words, saved } = await commit(batch, { ...inState({ state }), transactions: [earlier] });
      expect(words).to.deep.equal(["BOOK_MOVING", "BOOK_MOVING", "done"]);
      expect(rowsOf(saved)).to.deep.equal([]);
    });

    it(`${state}: refuses before it looks at the clock`, async () => {
      const { words } = await commit([mintTo()], inState({ state, lastRecordedAt: at(60_001) }));
      expect(words).to.deep.equal(["BOOK_MOVING"]);
    });
  }

  it("suspended: refuses its commands, replays among them, but not those of operators", async () => {
    const earlier = givenTransaction({ accountId: account.id });
    const replayed = mintTo({ amount: "50.00", reference: "earlier" });
    const limits = setLimits(ORGANIZATION, { changes: { DAY: toCents(100) } });
    const batch = [mintTo(), replayed, setAccountTier(ORGANIZATION, account.id), limits];
    const { words } = await commit(batch, { ...inState({ suspendedSeq: 1 }), transactions: [earlier] });
    expect(words).to.deep.equal(["ORGANIZATION_SUSPENDED", "ORGANIZATION_SUSPENDED", "done", "done"]);
  });

  it("RESTORED: takes mints and redemptions on the direct rail, and stays RESTORED", async () => {
    const out = { organizationId: ORGANIZATION, accountId: account.id, amount: "1.00", reference: "out" };
    const { words, saved } = await commit([mintTo(), redeem(out)], inState({ state: "RESTORED" }));
    expect(words).to.deep.equal(["done", "done"]);
    expect(saved[0]?.books).to.deep.include(givenHead({ state: "RESTORED", lastSeq: 3, lastRecordedAt: NOW }));
  });
});

describe("a command sees what its batch has done before it", () => {
  it("a repeat is a replay of the transaction that the batch has made", async () => {
    const [first, again] = [mintTo(), mintTo()];
    const { results, words, saved } = await commit([first, again]);
    expect(words).to.deep.equal(["done", "replayed"]);
    expect(results[1]).to.deep.equal({ ...results[0], replayed: true });
    expect(rowsOf(saved)).to.deep.equal(["2 0"]);
  });

  it("a key that comes with a replay is saved without an entry of its own", async () => {
    const earlier = givenTransaction({ accountId: account.id });
    const replayed = mintTo({ amount: "50.00", reference: "earlier", key: "late" });
    const { words, saved } = await commit([replayed], { transactions: [earlier] });
    expect(words).to.deep.equal(["replayed"]);
    expect(saved[0]?.entries).to.deep.equal([]);
    expect(saved[0]?.books).to.deep.equal([]);
    expect(saved[0]?.tables.idempotencyKeys.created).to.deep.equal([
      {
        row: { organizationId: ORGANIZATION, key: "late", resourceId: earlier.id, createdAt: NOW },
        createdBy: undefined,
        changedBy: undefined,
      },
    ]);
  });

  it("a user who was erased may have an account again, and neither is taken for the other", async () => {
    const empty = givenAccount({ availableCents: toCents(0), heldCents: toCents(0) });
    const again = createAccount(ORGANIZATION, "user");
    const loaded = { accounts: [empty], accountHolders: [givenHolder(empty)] };
    const batch = [
      createAccount(ORGANIZATION, "user"),
      eraseAccount(ORGANIZATION, empty.id),
      again,
      createAccount(ORGANIZATION, "user"),
      mintTo({ accountId: empty.id }),
      mintTo({ accountId: empty.id, reference: "slow", rail: SLOW_RAIL }),
    ];
    const { results, words, saved } = await commit(batch, loaded);
    expect(words).to.deep.equal(["replayed", "done", "done", "replayed", "done", "PHONE_NUMBER_MISSING"]);
    expect(results[3]).to.deep.equal({ ...results[2], replayed: true });
    expect(results[2]).to.deep.include({ kind: "done" }).and.have.nested.property("resource.id", again.newAccountId);
    const { created, changed } = saved[0]?.tables.accountHolders ?? {};
    expect(created?.map(({ row }) => row)).to.deep.equal([givenHolder(givenAccount({ id: again.newAccountId }))]);
    expect(changed?.map(({ row }) => row)).to.deep.equal([erasedHolder(empty)]);
  });
});
