import type { AccountHolder, LedgerAccount } from "../account.js";
import type { Commanded } from "../authority.js";
import { type Book, type Decision, type Lookup, type Operation, type Put, refuse } from "../decision.js";
import type { Deposit } from "../deposit.js";
import { creditedTo } from "../deposits/credit.js";
import { type Destination, type DestinationKind, type DestinationNumber, maskNumber } from "../destination.js";
import {
  countedNow,
  holdReasonsOf,
  moved,
  needReceipt,
  type NewTransaction,
  refusalByAmount,
  refusalByLimits,
  refusalByNumber,
  refusalByStatus,
} from "../movement.js";
import { type HoldReason, NEVER_DUE, type Payment, type RailReceipt, type RailTerms } from "../payment.js";
import { listedTextsOfAccount, listedTextsOfDestination } from "../payout-list.js";
import type { Refusal } from "../refusal.js";
import { type Comparison, decideRepeat } from "../repeat.js";
import { DIRECT_RAIL, type Rail, type Transaction, type TransactionType } from "../transaction.js";
import type { Cents } from "../values/cents.js";
import type { AccountId, DestinationId, TransactionId } from "../values/ids.js";
import { canBePhone, type MaskedPhone } from "../values/masked-phone.js";
import { isPayable, nearestPayable, type PayableAmounts } from "../values/payable-amounts.js";
import { type Description, type IdempotencyKey, type Metadata, type Reference, sameMetadata } from "../values/text.js";
import { toUnixMillis, type UnixMillis } from "../values/time.js";

export interface MoveMoney extends Commanded {
  readonly name: "mint" | "redeem";
  readonly newTransactionId: TransactionId;
  readonly accountId: AccountId;
  readonly amountCents: Cents;
  readonly reference: Reference;
  readonly description: Description;
  readonly metadata: Metadata;
  readonly rail: Rail;
  /** Whether the caller has named the rail. Otherwise it is the organization's default one. */
  readonly isRailNamed?: boolean;
  /** Undefined on the direct rail, and on a rail that the organization cannot use. */
  readonly railTerms?: RailTerms | undefined;
  /** What proves that the shillings have moved. Only on the direct rail. */
  readonly receipt?: RailReceipt | undefined;
  /** What a redemption pays, in place of the account's phone number. */
  readonly destinationId?: DestinationId | undefined;
  readonly idempotencyKey: IdempotencyKey | undefined;
  /** The SHA-256 of the file of payouts whose row it redeems. */
  readonly payoutFile?: string;
}

export const moveMoney: Operation<MoveMoney, Transaction> = { lookup, decide };

function lookup(command: MoveMoney, rows: Lookup): void {
  const { organizationId, accountId, reference, receipt, destinationId, idempotencyKey } = command;
  if (destinationId !== undefined) rows.need("destination", destinationId);
  if (command.payoutFile !== undefined) rows.need("payoutFile", { organizationId, name: command.payoutFile });
  needReceipt(rows, organizationId, receipt);
  if (command.rail === DIRECT_RAIL) rows.need("account", accountId);
  else rows.need("accountHolder", accountId);
  if (command.name === "redeem" && command.rail !== DIRECT_RAIL) {
    rows.need("paidTo", { organizationId, name: destinationId ?? accountId });
    rows.need("payoutCheck", organizationId);
    rows.need("listed", { organizationId, name: accountId });
    if (destinationId !== undefined) rows.need("listed", { organizationId, name: destinationId });
  }
  if (command.railTerms?.payerPhoneNumber === undefined) {
    rows.need("transactionWithReference", { organizationId, name: reference });
    if (idempotencyKey !== undefined) rows.need("idempotencyKey", { organizationId, name: idempotencyKey });
    return;
  }
  rows.need("paymentWithReference", { organizationId, name: reference });
  if (idempotencyKey !== undefined) rows.need("idempotencyKeyOfPayment", { organizationId, name: idempotencyKey });
}

/**
 * Mints to an account or redeems from it. On the direct rail the transaction is COMPLETED at once.
 * On any other rail it is PENDING, the KESC of a redemption is held, and the order for the rail is
 * stored as a payment. A redemption beyond what is paid without a person, or to what is on the
 * organization's list, is held, and so is each of an organization with a check of payouts: its rail
 * is not asked before a person releases it, or the check allows it. The same reference with the
 * same content is a replay. A mint with the receipt of an unallocated deposit of the same amount
 * credits that deposit.
 *
 * Refuses, in this order: IDEMPOTENCY_KEY_REUSED, REFERENCE_ALREADY_USED, PAYOUTS_STOPPED (a row of
 * a file), ACCOUNT_NOT_FOUND, ACCOUNT_CLOSED, ACCOUNT_FROZEN, then, on the direct rail,
 * RECEIPT_REQUIRED (mint) and RECEIPT_ALREADY_USED, and on any other one RAIL_NOT_CONFIGURED,
 * DESTINATION_NOT_FOUND,
 * DESTINATION_NOT_PAYABLE and PHONE_NUMBER_MISSING, then INSUFFICIENT_FUNDS (redeem),
 * LIMIT_EXCEEDED, and at last, not on the direct rail, AMOUNT_NOT_PAYABLE,
 * PHONE_NUMBER_NOT_PAYABLE, PHONE_NUMBER_COOLING (redeem) and DESTINATION_COOLING.
 */
function decide(book: Book, command: MoveMoney, now: UnixMillis, clock: UnixMillis): Decision<Transaction> {
  const { organizationId, accountId, actor, idempotencyKey, reference } = command;
  const repeated = decideRepeat(
    COMPARISON,
    { book, command, now },
    {
      withId: (id) => book.transaction(organizationId, id as TransactionId),
      existing: book.transactionWithReference(organizationId, reference),
      refusal: ({ id: transactionId }, differingFields) => ({
        reason: "REFERENCE_ALREADY_USED",
        transactionId,
        differingFields,
      }),
    },
  );
  if (repeated !== undefined) return repeated;
  const stopped = stoppedFileOf(book, command);
  if (stopped !== undefined) return refuse({ reason: "PAYOUTS_STOPPED", sha256: stopped });

  const account = book.account(organizationId, accountId);
  if (account === undefined) return refuse({ reason: "ACCOUNT_NOT_FOUND", accountId });
  const refusal = refusalByStatus(account);
  if (refusal !== undefined) return refuse(refusal);
  if (command.rail !== DIRECT_RAIL) return order(book, account, command, { now, clock });

  const deposit = depositToClaim(book, command);
  const given: NewTransaction =
    deposit === undefined ? transactionOf(command) : { ...transactionOf(command), depositId: deposit.id };
  const refusalOfMovement =
    (deposit === undefined ? refusalToAttest(book, command) : undefined) ??
    refusalByAmount(book, account, given) ??
    refusalByLimits(book, account, given, now);
  if (refusalOfMovement !== undefined) return refuse(refusalOfMovement);
  const minted = moved(countedNow(book, account, given, now), given, { actor, idempotencyKey, now });
  if (deposit === undefined) return minted;
  const { effect } = minted;
  const row = creditedTo(deposit, minted.resource);
  return { ...minted, effect: { ...effect, puts: [...effect.puts, { table: "deposits", row }] } };
}

/** Returns the file of which the command redeems a row, if a person has stopped it. */
function stoppedFileOf(book: Book, { organizationId, payoutFile }: MoveMoney): string | undefined {
  if (payoutFile === undefined) return undefined;
  return book.payoutFile(organizationId, payoutFile)?.stoppedAt === undefined ? undefined : payoutFile;
}

/** Returns why what the caller attests is not enough. */
function refusalToAttest(book: Book, { name, organizationId, receipt }: MoveMoney): Refusal | undefined {
  if (receipt !== undefined) return refusalByNumber(book, organizationId, receipt);
  const isRequired = name === "mint" && book.bookOf(organizationId).receiptsRequiredSeq !== undefined;
  return isRequired ? { reason: "RECEIPT_REQUIRED" } : undefined;
}

/**
 * Returns the deposit whose shillings a mint attests: an unallocated one of the same amount. Not
 * one whose shillings may be those of an earlier mint: a person decides that.
 */
function depositToClaim(book: Book, { name, organizationId, receipt, amountCents }: MoveMoney): Deposit | undefined {
  if (name !== "mint" || receipt === undefined) return undefined;
  const deposit = book.depositWithReceipt(organizationId, receipt);
  if (deposit?.status !== "UNALLOCATED" || deposit.amountCents !== amountCents) return undefined;
  return deposit.sameNumber === undefined ? deposit : undefined;
}

/** Accepts a transaction that a rail must carry out. */
function order(
  book: Book,
  account: LedgerAccount,
  command: MoveMoney,
  { now, clock }: { readonly now: UnixMillis; readonly clock: UnixMillis },
): Decision<Transaction> {
  const { accountId, actor, idempotencyKey, rail, railTerms } = command;
  if (railTerms === undefined) return refuse({ reason: "RAIL_NOT_CONFIGURED", rail });
  const destination = destinationOf(book, command, railTerms);
  if (destination !== undefined && "reason" in destination) return refuse(destination);
  const party = destination ?? phoneOf(book, command, railTerms);
  if (party === undefined) return refuse({ reason: "PHONE_NUMBER_MISSING", accountId });
  const given = transactionOf(command);
  const refusal =
    refusalByAmount(book, account, given) ??
    refusalByLimits(book, account, given, now) ??
    refusalToOrder(book, command, { railTerms, party, clock });
  if (refusal !== undefined) return refuse(refusal);

  const charged: LedgerAccount = { ...account, openPayments: account.openPayments + 1 };
  const heldFor = command.name === "redeem" ? holdsOf(book, account, command, { now, clock }) : [];
  const free = moved(countedNow(book, charged, given, now), given, { actor, idempotencyKey, now });
  const accepted = heldFor.length === 0 ? free : held(free, heldFor);
  const row: Payment = {
    transactionId: command.newTransactionId,
    organizationId: command.organizationId,
    railAccountId: railTerms.railAccountId,
    direction: given.type,
    state: "READY",
    numberKind: party.kind,
    number: party.number,
    maskedNumber: maskNumber(party.kind, party.number),
    railReference: undefined,
    begunAt: undefined,
    sends: 0,
    turnedAway: 0,
    aheadMillis: now - clock,
    dueAt: heldFor.length === 0 ? clock : NEVER_DUE,
    updatedAt: now,
  };
  const { effect } = accepted;
  return { ...accepted, effect: { ...effect, puts: [...effect.puts, { table: "payments", row }] } };
}

/** For so long after a change of the phone number or e-mail address a redemption can be held. */
const CHANGED_MILLIS = 7 * 86_400_000;

/** Returns why the redemption waits before its rail is asked. */
function holdsOf(
  book: Book,
  account: LedgerAccount,
  { organizationId, accountId, destinationId, amountCents }: MoveMoney,
  { now, clock }: { readonly now: UnixMillis; readonly clock: UnixMillis },
): readonly HoldReason[] {
  // Each account has one.
  const { phoneNumberChangedAt, emailChangedAt } = book.accountHolder(organizationId, accountId) as AccountHolder;
  const paidAt = book.paidTo(organizationId, destinationId ?? accountId);
  // A destination never changes. The account's own number may be another one by now.
  const since = destinationId === undefined ? phoneNumberChangedAt : undefined;
  const isFirst = paidAt === undefined || paidAt < (since ?? 0);
  const changedAt = Math.max(phoneNumberChangedAt ?? 0, emailChangedAt ?? 0);
  const isChanged = changedAt + CHANGED_MILLIS > clock;
  return [
    ...holdReasonsOf(book, account, { amountCents, isFirst, isChanged }, now),
    ...(book.payoutCheck(organizationId) === undefined ? [] : (["CHECK"] as const)),
    ...(isListed(book, { organizationId, accountId, destinationId }) ? (["LISTED"] as const) : []),
  ];
}

/**
 * Whether the organization's list has the account, its phone number, or the destination. The number
 * of the account says whose it is, so it counts where a destination is paid, too.
 */
function isListed(
  book: Book,
  { organizationId, accountId, destinationId }: Pick<MoveMoney, "organizationId" | "accountId" | "destinationId">,
): boolean {
  if (book.bookOf(organizationId).payoutList === undefined) return false;
  const ofAccount = listedTextsOfAccount(accountId, book.accountHolder(organizationId, accountId));
  const destination = destinationId === undefined ? undefined : book.destination(organizationId, destinationId);
  return (
    book.isListed(organizationId, ofAccount, accountId) ||
    (destination !== undefined && book.isListed(organizationId, listedTextsOfDestination(destination), destination.id))
  );
}

/** Adds the row that says why the accepted redemption waits. */
function held(
  { resource, effect }: ReturnType<typeof moved>,
  heldFor: readonly HoldReason[],
): ReturnType<typeof moved> {
  const row: Transaction = { ...resource, heldFor };
  const entries = effect.entries.flatMap((entry) => [
    entry,
    { ...entry, kind: "transaction.held" as const, posting: undefined, detail: heldFor.join(",") },
  ]);
  const puts = effect.puts.map((put): Put => (put.table === "transactions" ? { table: "transactions", row } : put));
  return { kind: "effect", resource: row, effect: { ...effect, entries, puts } };
}

/** Each field by its name: a spread of the command costs a mint 3 µs, ten times the decision. */
function transactionOf(command: MoveMoney): NewTransaction {
  return {
    id: command.newTransactionId,
    organizationId: command.organizationId,
    accountId: command.accountId,
    type: TYPES[command.name],
    amountCents: command.amountCents,
    reference: command.reference,
    description: command.description,
    metadata: command.metadata,
    rail: command.rail,
    railReceipt: command.receipt,
    corrects: undefined,
    depositId: undefined,
    destinationId: command.destinationId,
  };
}

const TYPES = { mint: "MINT", redeem: "REDEEM" } as const satisfies Record<MoveMoney["name"], TransactionType>;

const COMPARISON: Comparison<MoveMoney, Transaction> = {
  name: ["type", ({ name }, { type }) => TYPES[name] === type],
  accountId: ["account_id", ({ accountId }, existing) => accountId === existing.accountId],
  amountCents: ["amount", ({ amountCents }, existing) => amountCents === existing.amountCents],
  // The idempotency key covers it, too: under another reference it is another payment.
  reference: ["reference", ({ reference }, existing) => reference === existing.reference],
  description: ["description", ({ description }, existing) => description === existing.description],
  metadata: ["metadata", ({ metadata }, existing) => sameMetadata(metadata, existing.metadata)],
  // A change of the organization's default rail must refuse no repeat.
  isRailNamed: "no content",
  rail: ["rail", ({ rail, isRailNamed }, existing) => isRailNamed !== true || rail === existing.rail],
  receipt: ["receipt", ({ receipt }, { railReceipt }) => receipt === undefined || receipt === railReceipt],
  railTerms: ["payer_phone_number", (command, existing, book) => !hasOtherPayer(book, command, existing)],
  // The metadata names it, too.
  payoutFile: "no content",
  destinationId: ["destination_id", ({ destinationId }, existing) => destinationId === existing.destinationId],
};

/** The number of an ended payment is gone. Its masked form can still tell most others from it. */
function hasOtherPayer(book: Book, { organizationId, railTerms }: MoveMoney, { id }: Transaction): boolean {
  const payer = railTerms?.payerPhoneNumber;
  const payment = payer === undefined ? undefined : book.payment(organizationId, id);
  if (payer === undefined || payment === undefined) return false;
  const { number, maskedNumber } = payment;
  return number === undefined ? !canBePhone(maskedNumber as MaskedPhone, payer) : number !== payer;
}

/** Who pays for a mint, or is paid by a redemption. */
interface Party {
  readonly kind: DestinationKind;
  readonly number: DestinationNumber;
  readonly payable: PayableAmounts;
  /** Undefined without a destination. */
  readonly destination?: Destination;
}

function refusalToOrder(
  book: Book,
  { name, organizationId, accountId, amountCents, rail }: MoveMoney,
  { railTerms, party, clock }: { railTerms: RailTerms; party: Party; clock: UnixMillis },
): Refusal | undefined {
  const { phoneNumbers, phoneCoolingMillis } = railTerms;
  const { kind, number, payable, destination } = party;
  if (!isPayable(amountCents, payable)) {
    return { reason: "AMOUNT_NOT_PAYABLE", payable, nearest: nearestPayable(amountCents, payable) };
  }
  if (kind === "PHONE" && !phoneNumbers.test(number)) return { reason: "PHONE_NUMBER_NOT_PAYABLE", rail };
  if (destination !== undefined) {
    const { id: destinationId, usableAt } = destination;
    return usableAt > clock ? { reason: "DESTINATION_COOLING", destinationId, until: usableAt } : undefined;
  }
  const changedAt = book.accountHolder(organizationId, accountId)?.phoneNumberChangedAt;
  if (name === "mint" || changedAt === undefined) return undefined;
  const until = toUnixMillis(changedAt + phoneCoolingMillis);
  return until > clock ? { reason: "PHONE_NUMBER_COOLING", accountId, until } : undefined;
}

/** Returns the destination that the command names, or why it cannot be paid at all. */
function destinationOf(
  book: Book,
  { organizationId, accountId, destinationId, rail }: MoveMoney,
  { destinations = {} }: RailTerms,
): Party | Refusal | undefined {
  if (destinationId === undefined) return undefined;
  const destination = book.destination(organizationId, destinationId);
  if (destination?.accountId !== accountId || destination.number === undefined) {
    return { reason: "DESTINATION_NOT_FOUND", destinationId };
  }
  const { kind, number } = destination;
  const payable = destinations[kind];
  if (payable === undefined) return { reason: "DESTINATION_NOT_PAYABLE", rail, kind };
  return { kind, number, payable, destination };
}

/** Without a destination, shillings go out only to the phone number of the account's user. */
function phoneOf(
  book: Book,
  { name, organizationId, accountId }: MoveMoney,
  { payable, payerPhoneNumber }: RailTerms,
): Party | undefined {
  const payer = name === "mint" ? payerPhoneNumber : undefined;
  const number = payer ?? book.accountHolder(organizationId, accountId)?.person?.phoneNumber;
  return number === undefined ? undefined : { kind: "PHONE", number, payable };
}
