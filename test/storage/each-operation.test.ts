import { expect } from "chai";

import type { LedgerAccount } from "../../src/domain/account.js";
import type { BookHead } from "../../src/domain/book.js";
import type { DestinationNumber } from "../../src/domain/destination.js";
import type { Command, Resource } from "../../src/domain/operations.js";
import type { RailAccountId } from "../../src/domain/payment.js";
import type { Proposal } from "../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../src/domain/rail-account.js";
import type { ReservePlace } from "../../src/domain/reserve.js";
import type { Rail } from "../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";
import type { ApiKeyId, DepositId, OrganizationId, TransactionId } from "../../src/domain/values/ids.js";
import { maskPhone } from "../../src/domain/values/masked-phone.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import type { UnixMillis } from "../../src/domain/values/time.js";
import { commitBatch } from "../../src/ledger/commit-batch.js";
import type { CommandResult } from "../../src/ledger/ports/committer.js";
import type { Cell } from "../../src/storage/database.js";
import { keys } from "../../src/storage/keys.js";
import { bookProposals } from "../../src/storage/operators/book-proposals.js";
import { type StoredRailAccount, storedRailAccounts } from "../../src/storage/rails/rail-accounts.js";
import { reads } from "../../src/storage/reads.js";
import { type ApiKeyRow, storedApiKeyOf } from "../../src/storage/sql/organization-rows.js";
import { bookHeadOf, type BookRow } from "../../src/storage/sql/records/book-head-rows.js";
import { depositOf, type DepositRow } from "../../src/storage/sql/records/deposit-rows.js";
import { historyReads } from "../../src/storage/statements/history.js";
import { MemoryDisk } from "../attack/simulation/disks/memory-disk.js";
import { plain, type PlainResource } from "../support/acted.js";
import {
  advancePayment,
  ALONE,
  assignDeposit,
  beginPayment,
  cancel,
  clearFlag,
  closeAccount,
  completePayment,
  correctBook,
  createAccount,
  createApiKey,
  createDestination,
  depositReference,
  endReturn,
  eraseAccount,
  failPayment,
  flag,
  freezeAccount,
  mint,
  newOrganizationId,
  newProposalId,
  numberAccount,
  receiptNamed,
  receiveDeposit,
  recordCharge,
  recordDeposit,
  recordReserve,
  redeem,
  rejectProposal,
  removeDestination,
  requireReceipts,
  resolve,
  returnThroughRail,
  revealAccount,
  reverse,
  reverseDeposit,
  revokeApiKey,
  setAccountTier,
  setDefaultRail,
  setLimits,
  setPayouts,
  setRailAccount,
  setReserveRules,
  SLOW_RAIL,
  suspension,
  unassignDeposit,
  unfreezeAccount,
  updateAccount,
  watchRailAccount,
} from "../support/commands.js";
import { ENGINES, openTestDatabase } from "../support/databases.js";
import { findingsIn } from "../support/findings.js";
import { NOW } from "../support/given.js";
import type { MODELLED } from "../support/modelled.js";

// A column that no UPDATE sets, and a row that no lookup loads, both show here: what an operation
// answers must be what is stored, and must be found again by the same command.

/** A resource without what stands around that of an operator's command. */
type Made = PlainResource | Proposal | RailAccountRecord | ReservePlace | Numbered;
type Numbered = Pick<LedgerAccount, "id" | "depositReference">;

function made(resource: Resource): Made {
  if ("content" in resource) return resource;
  if ("account" in resource) return numberedIn(resource.account);
  if ("revision" in resource) return resource;
  const inner = "resource" in resource ? resource.resource : undefined;
  return inner !== undefined && ("revision" in inner || "asOfDay" in inner) ? inner : plain(resource);
}

function numberedIn({ id, depositReference: name }: LedgerAccount): Numbered {
  return { id, depositReference: name };
}

interface Storage {
  readonly organizationId: OrganizationId;
  commit(command: Command): Promise<CommandResult | undefined>;
  stored(resource: Made): Promise<Made | undefined>;
  /** What `kesc verify` finds. */
  findings(): Promise<readonly object[]>;
  close(): Promise<void>;
}

/**
 * One command of each operation. They are done in this order, after `setup`. What the models know,
 * and the simulation's memory stores, must have a line here. Another command needs one if it is the
 * first to write a table: what it changes is checked in its own test (test/support/stored.ts).
 */
function oneOfEach(organizationId: OrganizationId) {
  const account = createAccount(organizationId, "user", { key: "account" });
  const { newAccountId: accountId } = account;
  const empty = createAccount(organizationId, "empty");
  const deposit = mint({ organizationId, accountId, amount: "5.00", reference: "in", metadata: { till: "7" } });
  const pending = redeem({ organizationId, accountId, amount: "2.00", reference: "out", rail: SLOW_RAIL, key: "out" });
  const rail = givenOrders(organizationId);
  const [begun, unbegun, flagged, unknown] = rail.orders;
  const railUser = rail.accountId;
  const freeze = freezeAccount(organizationId, accountId, { key: "freeze" });
  const newKeyId = "key_1" as ApiKeyId;
  // Its group needs a second person, so it waits.
  const wanted = createApiKey(organizationId, {
    scopes: ["accounts:write"],
    secretSha256: "b".repeat(64),
    authority: { ...ALONE, groups: ["write_keys"], newProposalId: newProposalId() },
  });
  const received = receiveDeposit(organizationId, {
    receipt: "r8",
    typed: "tomatoes",
    phone: maskPhone("+254712345678" as PhoneNumber),
    paidAt: NOW,
  });
  const recorded = recordDeposit(organizationId, { receipt: "r9", accountId: railUser });
  const assigned = assignDeposit(organizationId, received.newDepositId, railUser);
  const { newTransactionId: creditId } = assigned.facts;
  const destination = createDestination(organizationId, accountId, { key: "destination" });
  const second = createDestination(organizationId, empty.newAccountId, { number: "5432322" as DestinationNumber });
  const operations = {
    setLimits: setLimits(organizationId, { tier: "small", changes: { DAY: toCents(100_000) } }),
    createAccount: account,
    mint: deposit,
    redeem: pending,
    cancelTransaction: cancel(organizationId, pending.newTransactionId),
    reverseTransaction: reverse(organizationId, deposit.newTransactionId, { description: "twice", key: "undo" }),
    freezeAccount: freeze,
    unfreezeAccount: unfreezeAccount(organizationId, accountId, freeze.newFreezeId),
    createDestination: destination,
    removeDestination: removeDestination(organizationId, accountId, destination.newDestinationId),
    revealAccount: revealAccount(organizationId, accountId),
    updateAccount: updateAccount(organizationId, empty.newAccountId),
    closeAccount: closeAccount(organizationId, empty.newAccountId),
    eraseAccount: eraseAccount(organizationId, empty.newAccountId),
    setAccountTier: setAccountTier(organizationId, railUser),
    beginPayment: beginPayment(organizationId, begun, 1),
    postponePayment: advancePayment("postponePayment", organizationId, begun),
    acceptPayment: advancePayment("acceptPayment", organizationId, begun),
    flagTransaction: flag(organizationId, begun),
    completePayment: completePayment(organizationId, begun, { movement: "m1", receipt: "r1" }),
    failPayment: failPayment(organizationId, unbegun),
    clearFlag: clearFlag(organizationId, flagged, "OUTCOME_UNKNOWN"),
    resolveTransaction: resolve(organizationId, unknown, { kind: "COMPLETED", receipt: receiptNamed("r2") }),
    numberAccount: numberAccount(organizationId, railUser, [depositReference(0)]),
    receiveDeposit: received,
    assignDeposit: assigned,
    unassignDeposit: unassignDeposit(organizationId, received.newDepositId, creditId),
    returnDeposit: returnThroughRail(organizationId, received.newDepositId),
    endReturn: endReturn({ organizationId, id: received.newDepositId, updatedAt: NOW }, "r10"),
    recordDeposit: recorded,
    reverseDeposit: reverseDeposit(organizationId, recorded.facts.newDepositId, {
      transactionId: recorded.facts.newTransactionId,
      receipt: "r11",
    }),
    coverShortfall: correctBook("coverShortfall", organizationId, { amountCents: 50, key: "cover" }),
    recoverShortfall: correctBook("recoverShortfall", organizationId, {
      amountCents: 50,
      key: "recover",
      target: railUser,
    }),
    bookReceipt: correctBook("bookReceipt", organizationId, { amountCents: 300, key: "book", target: "r3" }),
    bookPayment: correctBook("bookPayment", organizationId, { amountCents: 5, key: "paid", target: "r6" }),
    adjustMovement: correctBook("adjustMovement", organizationId, { amountCents: 5, key: "adjust", target: "r3" }),
    explainTransfer: correctBook("explainTransfer", organizationId, { amountCents: 5, key: "bank", target: "r7" }),
    fundCharges: correctBook("fundCharges", organizationId, { amountCents: 5, key: "fund", target: "r12" }),
    recordCharge: recordCharge(organizationId, { movement: "r3" }),
    allocate: correctBook("allocate", organizationId, { amountCents: 100, key: "allocate", target: railUser }),
    returnUnallocated: correctBook("returnUnallocated", organizationId, {
      amountCents: 100,
      key: "return",
      target: "r4",
    }),
    requireReceipts: requireReceipts(organizationId),
    suspendOrganization: suspension("suspendOrganization", organizationId),
    resumeOrganization: suspension("resumeOrganization", organizationId),
    createApiKey: createApiKey(organizationId, { newKeyId, secretSha256: "a".repeat(64) }),
    revokeApiKey: revokeApiKey(organizationId, newKeyId),
    rejectProposal: rejectProposal(organizationId, wanted.authority.newProposalId),
    setRailAccount: setRailAccount(organizationId, {
      railAccountId: MADE,
      rail: MADE_RAIL,
      floatMinCents: toCents(1),
      facts: ONE_ACCOUNT,
    }),
    setDefaultRail: setDefaultRail(organizationId, MADE_RAIL),
    setPayouts: setPayouts(organizationId, "closed", { rail: MADE_RAIL }),
    recordReserve: recordReserve(organizationId, "KCB 1234"),
    setReserveRules: setReserveRules(organizationId, [{ kind: "cash", shareMax: 5, staleAfterDays: 1 }]),
    watchRailAccount: watchRailAccount(organizationId, { rail: MADE_RAIL, availableCents: 0 }),
  } satisfies Record<(typeof MODELLED)[number], Command> & { readonly [Name in Command["name"]]?: Command };
  // It lets one person decide.
  const lenient = setRailAccount(organizationId, { resolveAloneMaxCents: MAX_CENTS });
  return { setup: [empty, second, ...rail.setup, wanted, lenient], operations: Object.values(operations) };
}

const MADE = "rail_made" as RailAccountId;
const MADE_RAIL = "made" as Rail;
const ONE_ACCOUNT = { accountsOfAll: "1:1", movesPlace: false };

/** An account with orders in several states, and a shortfall of 1.00. */
function givenOrders(organizationId: OrganizationId) {
  const user = createAccount(organizationId, "rail");
  const { newAccountId: accountId } = user;
  const movement = { organizationId, accountId, rail: SLOW_RAIL, amount: "1.00" };
  const [begun, unbegun, flagged, unknown, paidLate] = [
    mint({ ...movement, reference: "begun" }),
    redeem({ ...movement, reference: "unbegun" }),
    mint({ ...movement, reference: "flagged" }),
    redeem({ ...movement, reference: "unknown" }),
    redeem({ ...movement, reference: "paid late" }),
  ];
  const lateId = paidLate.newTransactionId;
  const setup: Command[] = [
    user,
    mint({ organizationId, accountId, amount: "1.00", reference: "first" }),
    paidLate,
    failPayment(organizationId, lateId),
    redeem({ organizationId, accountId, amount: "1.00", reference: "all" }),
    completePayment(organizationId, lateId, { movement: "late" }),
    mint({ organizationId, accountId, amount: "10.00", reference: "more" }),
    begun,
    unbegun,
    flagged,
    flag(organizationId, flagged.newTransactionId),
    unknown,
    beginPayment(organizationId, unknown.newTransactionId),
    flag(organizationId, unknown.newTransactionId),
  ];
  const ids = [begun, unbegun, flagged, unknown].map(({ newTransactionId }) => newTransactionId);
  return { setup, accountId, orders: ids as [TransactionId, TransactionId, TransactionId, TransactionId] };
}

/** The commands that the ledger allows once. A repeat is refused. */
const ONCE: readonly Command["name"][] = ["beginPayment", "setRailAccount"];

async function openEngine(engine: (typeof ENGINES)[number]): Promise<Storage> {
  const opened = await openTestDatabase(engine);
  const { database, cell } = opened;
  const { id: organizationId } = await keys(database, () => NOW).createOrganization("each operation");
  const read = reads(cell);
  return {
    organizationId,
    commit: async (command) => (await cell.committer.commit([command], NOW))[0],
    stored: (resource) =>
      "sums" in resource
        ? headOf(cell, organizationId)
        : "secretSha256" in resource
          ? keyOf(cell, resource.id)
          : "revision" in resource
            ? storedRailAccounts(cell).then((all) => all.map(recordOf).find(({ id }) => id === resource.id))
            : "asOfDay" in resource
              ? historyReads(cell)
                  .reserveHoldings(organizationId)
                  .then(([figure]) => figure && { ...figure, organizationId })
              : "content" in resource
                ? bookProposals(cell, { id: resource.id }).then(([found]) => found?.proposal)
                : "person" in resource
                  ? read.account(organizationId, resource.id)
                  : "credits" in resource
                    ? depositIn(cell, organizationId, resource.id)
                    : "usableAt" in resource
                      ? read.destination(organizationId, resource.id)
                      : "depositReference" in resource
                        ? read.account(organizationId, resource.id).then((row) => row && numberedIn(row))
                        : read.transaction(organizationId, resource.id),
    findings: () => findingsIn(database),
    close: () => opened.dispose(),
  };
}

/** The account without what lists read beside it. */
function recordOf(account: StoredRailAccount): RailAccountRecord {
  const noted = ["isSandbox", "isWhole", "balance", "depositsSince", "depositsReadAt"];
  const fields = Object.entries(account).filter(([name]) => !noted.includes(name));
  return Object.fromEntries(fields) as unknown as RailAccountRecord;
}

/** A deposit as the ledger loads it. */
async function depositIn(cell: Cell, organizationId: OrganizationId, id: DepositId): Promise<Made | undefined> {
  const { reader, engine } = cell;
  const rows = await reader.rows<DepositRow>(`SELECT * FROM ${engine.table("deposits")} WHERE id = ?`, [id]);
  const books = await cell.directory.find([organizationId], ({ sql, bindings }) => reader.rows(sql, bindings));
  return rows.flatMap((row) => books.map((book) => depositOf(row, book)))[0];
}

/** A key as the ledger loads it. */
async function keyOf({ reader, engine }: Cell, id: ApiKeyId): Promise<Made | undefined> {
  const rows = await reader.rows<ApiKeyRow>(`SELECT * FROM ${engine.table("api_keys")} WHERE id = ?`, [id]);
  return rows.map(storedApiKeyOf)[0];
}

/** The book as the ledger loads it. */
async function headOf(cell: Cell, organizationId: OrganizationId): Promise<BookHead | undefined> {
  const { reader, engine } = cell;
  const rows = await reader.rows<BookRow>(
    `SELECT *, NULL AS begun_at FROM ${engine.table("books")} ORDER BY number`,
    [],
  );
  return rows.map(bookHeadOf).find((head) => head.organizationId === organizationId);
}

/** The fields of what a command returns that are rows themselves. */
const PARTS: ReadonlySet<string> = new Set(["resource", "deposit", "account"]);

/** The memory twin of the simulation, which must store what the engines store. */
function openMemory(): Promise<Storage> {
  const organizationId = newOrganizationId();
  const disk = new MemoryDisk([organizationId]);
  const steps = { before: () => Promise.resolve(), committed: () => undefined };
  const store = disk.open().store(steps);
  return Promise.resolve({
    organizationId,
    commit: async (command) => {
      const [answer] = await commitBatch(store, [command], NOW);
      if (answer?.kind !== "done") return answer;
      const { resource } = answer;
      const inner = Object.fromEntries(
        Object.entries(resource).map(([name, value]) => [
          name,
          PARTS.has(name) && value ? withoutSeq(value as object) : value,
        ]),
      );
      return { ...answer, resource: withoutSeq(inner) as Resource };
    },
    stored: (resource) => {
      const { accounts, transactions, deposits, heads } = disk.books();
      if ("sums" in resource) return Promise.resolve(heads.get(organizationId));
      const isWanted = (row: object): boolean =>
        "id" in resource ? "id" in row && row.id === resource.id : "place" in row && row.place === resource.place;
      const row = [...accounts, ...transactions, ...deposits, ...disk.acts].find(isWanted);
      if (row === undefined) return Promise.resolve(undefined);
      const isNumbered = "depositReference" in resource && !("person" in resource);
      return Promise.resolve(isNumbered && "tier" in row ? numberedIn(row) : (withoutSeq(row) as Made));
    },
    findings: () => Promise.resolve([]),
    close: () => Promise.resolve(),
  });
}

/** The resource alone: a row in memory carries its `seq`, too. */
function withoutSeq<Row extends object>(row: Row): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => name !== "seq")) as Row;
}

/** Without what is stored elsewhere. A repeat shows it again. */
function withoutLinked(resource: Made): Made {
  const isLinked = ([name]: [string, unknown]): boolean =>
    name === "freeze" || name === "correction" || name === "proposal";
  return Object.fromEntries(Object.entries(resource).filter((entry) => !isLinked(entry))) as unknown as Made;
}

for (const where of [...ENGINES, "memory"] as const) {
  describe(`each operation, stored on ${where}`, () => {
    let storage: Storage;
    before(async () => {
      storage = await (where === "memory" ? openMemory() : openEngine(where));
    });
    after(() => storage.close());

    it("stores the resource that it answers, and answers a repeat with the same", async () => {
      const { setup, operations } = oneOfEach(storage.organizationId);
      for (const command of setup) {
        const answer = await storage.commit(command);
        if (answer?.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(answer)}`);
      }
      let begunAt: UnixMillis | undefined;
      for (const each of operations) {
        // The end of a return says when it has begun.
        const command = each.name === "endReturn" ? { ...each, begunAt: begunAt ?? NOW } : each;
        const answer = await storage.commit(command);
        if (answer?.kind !== "done") throw new Error(`${command.name} was not done: ${JSON.stringify(answer)}`);
        const { resource } = answer;
        const shown = made(resource);
        if ("credits" in shown) begunAt = shown.updatedAt;
        expect(await storage.stored(made(resource)), command.name).to.deep.equal(withoutLinked(made(resource)));
        const repeated = await storage.commit(command);
        if (command.name === "revealAccount") {
          expect(repeated, "looks again").to.include({ kind: "done", replayed: false });
          continue;
        }
        if (ONCE.includes(command.name)) {
          expect(repeated?.kind, command.name).to.equal("refused");
          continue;
        }
        expect(repeated, command.name).to.deep.equal({ kind: "done", resource, replayed: true });
      }
      expect(await storage.findings()).to.deep.equal([]);
    });
  });
}
