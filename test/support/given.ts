import type { Account, AccountHolder, LedgerAccount, Person } from "../../src/domain/account.js";
import type { BookHead } from "../../src/domain/book.js";
import { ofEachTable, type ResourceId, type UsedIdempotencyKey } from "../../src/domain/decision.js";
import type { Deposit } from "../../src/domain/deposit.js";
import { type Destination, type DestinationNumber, maskNumber } from "../../src/domain/destination.js";
import type { Freeze } from "../../src/domain/freeze.js";
import type { JournalEntry } from "../../src/domain/journal.js";
import { DEFAULT_TIER } from "../../src/domain/limits/limits.js";
import type { Payment } from "../../src/domain/payment.js";
import type { Decider, Proposal } from "../../src/domain/proposal.js";
import type { RailAccountRecord } from "../../src/domain/rail-account.js";
import type { ReservePlace } from "../../src/domain/reserve.js";
import { DIRECT_RAIL, type Transaction } from "../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../src/domain/values/cents.js";
import { NO_EMAIL } from "../../src/domain/values/email-address.js";
import type { OrganizationId, WebhookEndpointId } from "../../src/domain/values/ids.js";
import { maskPhone } from "../../src/domain/values/masked-phone.js";
import type { NairobiDay } from "../../src/domain/values/nairobi-day.js";
import type { PhoneNumber } from "../../src/domain/values/phone-number.js";
import {
  type Description,
  NO_REASON,
  parseDescription,
  parseIdempotencyKey,
  parseMetadata,
  parseReference,
  parseUserId,
} from "../../src/domain/values/text.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { Endpoint } from "../../src/domain/webhook-endpoint.js";
import { BatchBook } from "../../src/ledger/batch-book.js";
import { type Loaded, NO_RAIL_ACCOUNTS } from "../../src/ledger/ports/store.js";
import {
  EARLIER,
  newAccountId,
  newDepositId,
  newDestinationId,
  newFreezeId,
  newProposalId,
  newTransactionId,
  NOW,
  ORGANIZATION,
  RAIL_TERMS,
  receiptNamed,
  SLOW_RAIL,
  STRANGER,
  TEST_ACTOR,
  valid,
} from "./names.js";

// Builders of the state before a decision: one organization, and rows with sensible defaults.

/** The user "user", without an e-mail address. */
export function givenPerson(given: Partial<Person> = {}): Person {
  return {
    userId: valid(parseUserId("user")),
    phoneNumber: "+254712345678" as PhoneNumber,
    email: NO_EMAIL,
    ...given,
  };
}

/** The holder of an account. */
export function givenHolder({ id, organizationId }: LedgerAccount, person?: Partial<Person>): AccountHolder {
  return { ...erasedHolder({ id, organizationId }), person: givenPerson(person) };
}

/** The holder of an open account whose personal data was erased. */
export function erasedHolder({ id, organizationId }: Pick<LedgerAccount, "id" | "organizationId">): AccountHolder {
  return {
    accountId: id,
    organizationId,
    person: undefined,
    isOpen: true,
    phoneNumberChangedAt: undefined,
    emailChangedAt: undefined,
  };
}

/** The organization's book, open and empty apart from its first row. */
export function givenHead(given: Partial<BookHead> = {}): BookHead {
  return {
    organizationId: ORGANIZATION,
    state: "OPEN",
    suspendedSeq: undefined,
    receiptsRequiredSeq: undefined,
    lastSeq: 1,
    lastRecordedAt: EARLIER,
    sums: { reserve: 0, shortfall: 0, charges: 0, available: 0, held: 0, unallocated: 0 },
    limits: undefined,
    ...given,
  };
}

/** An active account of the organization, with 100.00 available and 20.00 held. */
export function givenAccount(given: Partial<LedgerAccount> = {}): LedgerAccount {
  return {
    id: newAccountId(),
    organizationId: ORGANIZATION,
    status: "ACTIVE",
    statusNote: NO_REASON,
    availableCents: toCents(10_000),
    heldCents: toCents(2_000),
    openPayments: 0,
    tier: DEFAULT_TIER,
    depositReference: undefined,
    usage: undefined,
    createdAt: EARLIER,
    updatedAt: EARLIER,
    lastSeq: 7,
    ...given,
  };
}

/** The fields of a transaction that no rail has said anything about. */
const NO_REPORT = {
  railMovement: undefined,
  railReceipt: undefined,
  failure: undefined,
  openFlags: [],
  heldFor: [],
} as const;
/** The fields of a journal entry that only payments on a rail and corrections of the book have. */
export const NO_PROOF = { detail: undefined, receipt: undefined } as const;

/**
 * A mint of 50.00 with the reference "earlier", completed on the direct rail. After it 100.00 were
 * available.
 */
export function givenTransaction(given: Partial<Transaction> & Pick<Transaction, "accountId">): Transaction {
  return {
    id: newTransactionId(),
    organizationId: ORGANIZATION,
    type: "MINT",
    status: "COMPLETED",
    statusReason: NO_REASON,
    amountCents: toCents(5_000),
    reference: valid(parseReference("earlier")),
    description: valid(parseDescription("")),
    metadata: valid(parseMetadata(new Map())),
    rail: DIRECT_RAIL,
    ...NO_REPORT,
    corrects: undefined,
    depositId: undefined,
    destinationId: undefined,
    reversedById: undefined,
    availableAfterCents: toCents(10_000),
    createdAt: EARLIER,
    updatedAt: EARLIER,
    completedAt: EARLIER,
    ...given,
  };
}

/** A standing freeze of the account, for a court order. */
export function givenFreeze(given: Partial<Freeze> & Pick<Freeze, "accountId">): Freeze {
  return {
    id: newFreezeId(),
    organizationId: ORGANIZATION,
    reason: "COURT_ORDER",
    note: NO_REASON,
    createdBy: TEST_ACTOR,
    createdAt: EARLIER,
    lifted: undefined,
    ...given,
  };
}

/** The till "rent", unless told otherwise. It can be used from the beginning on. */
export function givenDestination(given: Partial<Destination> & Pick<Destination, "accountId">): Destination {
  const { kind = "TILL", number = "5432321" as DestinationNumber } = given;
  return {
    id: newDestinationId(),
    organizationId: ORGANIZATION,
    kind,
    label: "rent" as Description,
    number,
    maskedNumber: maskNumber(kind, number),
    railName: undefined,
    usableAt: EARLIER,
    createdAt: EARLIER,
    removedAt: undefined,
    ...given,
  };
}

/** The same on a rail on which nothing has moved yet. */
export function givenPending(given: Partial<Transaction> & Pick<Transaction, "accountId">): Transaction {
  const pending = {
    status: "PENDING",
    rail: SLOW_RAIL,
    availableAfterCents: undefined,
    completedAt: undefined,
  } as const;
  return givenTransaction({ ...pending, ...given });
}

/** A deposit of 5.00 that the slow rail reported with the receipt "d1". It waits for a person. */
export function givenDeposit(given: Partial<Deposit> = {}): Deposit {
  return {
    id: newDepositId(),
    organizationId: ORGANIZATION,
    rail: SLOW_RAIL,
    railAccountId: RAIL_TERMS.railAccountId,
    receipt: receiptNamed("d1"),
    amountCents: toCents(500),
    status: "UNALLOCATED",
    reason: "NO_REFERENCE",
    sameNumber: undefined,
    accountId: undefined,
    transactionId: undefined,
    credits: 0,
    typedReference: undefined,
    maskedPhone: undefined,
    paidAt: undefined,
    createdAt: EARLIER,
    updatedAt: EARLIER,
    ...given,
  };
}

/** The payment of a transaction that was given to a rail. It was not begun yet. */
export function givenPayment(
  { id, organizationId, type }: Pick<Transaction, "id" | "organizationId" | "type">,
  given: Partial<Payment> = {},
): Payment {
  const { phoneNumber } = givenPerson();
  return {
    transactionId: id,
    organizationId,
    railAccountId: RAIL_TERMS.railAccountId,
    direction: type,
    state: "READY",
    numberKind: "PHONE",
    number: given.state === "ENDED" ? undefined : phoneNumber,
    maskedNumber: maskPhone(phoneNumber),
    railReference: undefined,
    begunAt: undefined,
    sends: given.begunAt === undefined ? 0 : 1,
    turnedAway: 0,
    aheadMillis: 0,
    dueAt: EARLIER,
    updatedAt: EARLIER,
    ...given,
  };
}

/** An account with its holder, as the service returns it. */
export function givenAccountAndHolder(given: Partial<LedgerAccount> = {}, person?: Partial<Person>): Account {
  return { ...givenAccount(given), person: givenPerson(person), freezes: [] };
}

/** An account at a rail, as a book has it. One person may decide any amount. */
export function railAccount(organizationId: OrganizationId, given: Partial<RailAccountRecord> = {}): RailAccountRecord {
  return {
    id: RAIL_TERMS.railAccountId,
    organizationId,
    rail: SLOW_RAIL,
    settings: "{}",
    credentials: undefined,
    credentialsExpireAt: undefined,
    payouts: "auto",
    payoutsReason: "",
    isDefault: false,
    beginWithinMillis: 1_000,
    confirmAboveCents: 0,
    resolveAloneMaxCents: MAX_CENTS,
    floatMinCents: 0,
    revision: 1,
    warnings: {},
    createdAt: toUnixMillis(1),
    updatedAt: toUnixMillis(1),
    ...given,
  };
}

/** The rows of an empty book. */
export const NO_ROWS: Omit<Loaded, "books"> = {
  ...ofEachTable(() => []),
  changedRows: new Set(),
  begunAt: undefined,
  receipts: [],
  movements: [],
  paymentsUnderWay: new Map(),
  unallocatedDepositCents: new Map(),
  railAccountsOfCells: NO_RAIL_ACCOUNTS,
  reveals: new Map(),
  decidingRows: [],
  aloneSums: [],
  closedMonths: [],
  paidTo: [],
  listed: [],
  bankFiles: [],
  payoutChecks: [],
};

/**
 * The ledger's own book, with these rows in it. Without `accountHolders`, each account has one. The
 * book also has the receipts and the movements of the transactions.
 */
export function givenBook(rows: Partial<Loaded> = {}): BatchBook {
  const { accounts = [], transactions = [] } = rows;
  return new BatchBook({
    ...NO_ROWS,
    books: [givenHead(), givenHead({ organizationId: STRANGER })],
    accounts,
    accountHolders: accounts.map((account) => givenHolder(account)),
    receipts: transactions.flatMap(({ id, organizationId, railReceipt: receipt }) =>
      receipt === undefined ? [] : [{ organizationId, receipt, transactionId: id, depositId: undefined }],
    ),
    movements: transactions.flatMap(({ id, organizationId, railMovement: movement }) =>
      movement === undefined ? [] : [{ organizationId, movement, transactionId: id }],
    ),
    ...rows,
  });
}

/** A proposal that waits: the subject is its id, unless told otherwise. */
export function givenProposal(given: Partial<Proposal> & Pick<Proposal, "content">): Proposal {
  const id = newProposalId();
  return {
    organizationId: ORGANIZATION,
    subject: id,
    id,
    seq: 0,
    person: "brian" as Decider,
    proposedAt: EARLIER,
    expiresAt: undefined,
    decided: undefined,
    sealed: undefined,
    ...given,
  };
}

/** The idempotency key "k" of a command that made the resource. */
export function usedKey(resourceId: ResourceId, createdAt = EARLIER): UsedIdempotencyKey {
  return { organizationId: ORGANIZATION, key: valid(parseIdempotencyKey("k")), resourceId, createdAt };
}

/** What a row of the journal says of the balances of an account. */
export function balancesOf({ availableCents, heldCents }: LedgerAccount): JournalEntry["balancesAfter"] {
  return { availableCents, heldCents };
}

/** A row that a decision of NOW adds to the journal. It moves nothing, unless told otherwise. */
export function entryOf(given: object): object {
  return {
    organizationId: ORGANIZATION,
    transactionId: undefined,
    freezeId: undefined,
    posting: undefined,
    actor: TEST_ACTOR,
    reason: "",
    recordedAt: NOW,
    ...given,
  };
}

/** A webhook endpoint, which has delivered nothing. */
export function endpoint(changes: Partial<Endpoint> = {}): Endpoint {
  return {
    id: "whe_01jd2r6p5vf8ksw3xhb1z7q4ye" as WebhookEndpointId,
    organizationId: ORGANIZATION,
    url: "https://example.com/",
    description: "",
    types: undefined,
    status: "ACTIVE",
    disabledReason: undefined,
    revision: 1,
    secrets: [],
    settledSeq: 0,
    replay: undefined,
    failures: 0,
    failingSince: undefined,
    probeAt: undefined,
    retryAt: undefined,
    changedSeq: 2,
    createdAt: EARLIER,
    updatedAt: EARLIER,
    ...changes,
  };
}

/** A place with a figure. How its statements are read nobody has said. */
export function givenPlace(place: string, given: Partial<ReservePlace> = {}): ReservePlace {
  return {
    organizationId: ORGANIZATION,
    place,
    amountCents: toCents(100),
    asOfDay: "2023-10-31" as NairobiDay,
    evidence: "statement",
    kind: "other",
    documentSha256: undefined,
    maturesOn: undefined,
    statementForm: undefined,
    recordedAt: EARLIER,
    seq: 1,
    ...given,
  };
}
