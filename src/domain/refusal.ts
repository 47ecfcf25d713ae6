import type { AccountStatus } from "./account.js";
import { listOf, type RefusalsOf, sentencesOf, SOON_MILLIS, worded } from "./answer.js";
import type { Outdated } from "./change.js";
import type { DepositStatus } from "./deposit.js";
import type { DestinationKind } from "./destination.js";
import type { ReachedLimit } from "./limits/usage.js";
import type { PasskeyId, Role } from "./operator.js";
import type { RailReceipt } from "./payment.js";
import type { Rail, TransactionStatus } from "./transaction.js";
import { type Cents, formatCents } from "./values/cents.js";
import type {
  AccountId,
  ApiKeyId,
  DepositId,
  DestinationId,
  FreezeId,
  OperatorId,
  OrganizationId,
  ProposalId,
  TransactionId,
  WebhookEndpointId,
} from "./values/ids.js";
import type { Month } from "./values/month.js";
import type { NearestAmounts, PayableAmounts } from "./values/payable-amounts.js";
import type { UnixMillis } from "./values/time.js";

/** The fields of refusals. Each is a fact, whose name and form follow from that of the field. */
interface RefusalFields extends Outdated {
  readonly accountId: AccountId;
  readonly availableCents: Cents;
  readonly balanceCents: number;
  readonly behindMillis: number;
  readonly bankFileId: string;
  readonly bookAccount: "unallocated" | "shortfall";
  readonly cells: number;
  readonly code: string;
  readonly depositId: DepositId;
  readonly destinationId: DestinationId;
  readonly differingFields: readonly string[];
  readonly endpointId: WebhookEndpointId;
  readonly etag: string;
  readonly file: string;
  readonly freezeId: FreezeId;
  readonly heldCents: Cents;
  readonly kescVersion: string;
  readonly keyId: ApiKeyId;
  readonly kind: DestinationKind;
  readonly limit: number;
  readonly month: Month;
  readonly movement: string;
  readonly openPayments: number;
  readonly operatorId: OperatorId;
  readonly organizationId: OrganizationId;
  readonly passkeyId: PasskeyId;
  readonly payments: number;
  readonly place: string;
  readonly proposalId: ProposalId;
  readonly rail: Rail;
  readonly requestedCents: Cents;
  readonly resourceId: string;
  readonly retryMillis: number;
  readonly reversedById: TransactionId;
  readonly sequence: number;
  readonly sha256: string;
  readonly state: "APPROVED" | "REJECTED" | "LAPSED";
  readonly status: TransactionStatus;
  readonly transactionId: TransactionId;
  readonly until: UnixMillis;
}

const {
  aborted,
  alreadyExists,
  failedPrecondition,
  notFound,
  permissionDenied,
  resourceExhausted,
  unauthenticated,
  unavailable,
} = sentencesOf<RefusalFields>();

const MAKE_NEW = "Make a new mint or redemption instead.";
const OBSTACLES = {
  NOT_COMPLETED: { why: "it is not completed", instead: "Cancel it while it is pending, or wait for its end." },
  OTHER_RAIL: { why: 'its rail is not "direct"', instead: MAKE_NEW },
  IS_REVERSAL: { why: "it is a reversal itself", instead: MAKE_NEW },
  DEPOSIT: { why: "it is of a deposit", instead: "Only an operator takes the credit of a deposit back." },
};

/** Why nobody gets a payment file any more. */
const CLOSED_FILES = {
  LOST: "it was marked lost",
  REPORTED: "payments of it have ended, so the bank has had it",
  CHANGED: "its payments, or the settings of the account at the rail, are no longer those of its approval",
};

/** The answers for the rules of accounts, money and people: each refusal's code and words. */
export const REFUSALS = {
  ACCOUNT_NOT_FOUND: notFound`Account ${"accountId"} was not found.`,
  TRANSACTION_NOT_FOUND: notFound`Transaction ${"transactionId"} was not found.`,
  PAYMENT_NOT_FOUND: notFound`Transaction ${"transactionId"} has no payment: it was not given to a rail.`,
  DEPOSIT_NOT_FOUND: notFound`Deposit ${"depositId"} was not found.`,
  FREEZE_NOT_FOUND: notFound`Freeze ${"freezeId"} was not found on the account.`,
  FREEZE_OF_OPERATOR: permissionDenied`An operator of the service has made the freeze ${"freezeId"}, and only an operator can lift it. Ask the operator.`,
  ACCOUNT_ALREADY_EXISTS: alreadyExists`The user_id already has the account ${"accountId"}, with another ${"differingFields"}.`,
  REFERENCE_ALREADY_USED: alreadyExists`The reference already belongs to ${"transactionId"}, with another ${"differingFields"}. Look at that transaction before you try again.`,
  IDEMPOTENCY_KEY_REUSED: failedPrecondition`The idempotency key belongs to a request with other content. Use a new key.`,
  /** The rail has the transaction: it must be resolved before its flags are cleared. */
  TRANSACTION_STILL_OPEN: failedPrecondition`Transaction ${"transactionId"} is processing. Resolve it first. Then clear its flags.`,
  /** The transaction has ended in another way than the resolution says. */
  TRANSACTION_ALREADY_ENDED: failedPrecondition`Transaction ${"transactionId"} is already ${"status"}, in another way.`,
  TRANSACTION_ALREADY_REVERSED: alreadyExists`Transaction ${"transactionId"} was already reversed by ${"reversedById"}, with another ${"differingFields"}. Look at that reversal before you try again.`,
  TRANSACTION_NOT_REVERSIBLE: worded(
    "FAILED_PRECONDITION",
    ["transactionId", "cause"],
    ({ transactionId, cause }: { readonly transactionId: TransactionId; readonly cause: keyof typeof OBSTACLES }) => {
      const { why, instead } = OBSTACLES[cause];
      return `Transaction ${transactionId} cannot be reversed: ${why} (${cause.toLowerCase()}). ${instead}`;
    },
  ),
  INSUFFICIENT_FUNDS: failedPrecondition`Insufficient available balance: ${"availableCents"} available, ${"requestedCents"} requested.`,
  ACCOUNT_FROZEN: failedPrecondition`Account ${"accountId"} is frozen. Lift its freezes first.`,
  TOO_MANY_FREEZES: failedPrecondition`Account ${"accountId"} already has ${"limit"} freezes, the most that can stand. It stays frozen.`,
  ACCOUNT_CLOSED: failedPrecondition`Account ${"accountId"} is closed. A closed account stays closed.`,
  /** The resource has another version than the caller named. */
  ETAG_MISMATCH: aborted`The resource has changed: its etag is now ${"etag"}. Nothing was done. Read the resource again.`,
  ACCOUNT_ERASED: failedPrecondition`The personal data of account ${"accountId"} was erased.`,
  ACCOUNT_NOT_EMPTY: failedPrecondition`Account ${"accountId"} is not empty: ${"availableCents"} available, ${"heldCents"} held. Redeem the balance first.`,
  INVALID_TRANSITION: worded("FAILED_PRECONDITION", ["from", "to"], invalidTransition),
  LIMIT_EXCEEDED: worded("FAILED_PRECONDITION", ["accountId", "limitCents", "reached"], limitExceeded),
  TOO_MANY_TIERS: failedPrecondition`The organization has limits for ${"limit"} tiers, the most that it can have. Remove one first.`,
  API_KEY_NOT_FOUND: notFound`There is no key ${"keyId"}.`,
  PROPOSAL_NOT_FOUND: notFound`There is no proposal ${"proposalId"}.`,
  PROPOSAL_CLOSED: failedPrecondition`The proposal ${"proposalId"} is ${"state"}. It can no longer be decided.`,
  PROPOSAL_OUTDATED: failedPrecondition`The proposal ${"proposalId"} is older than another change: "${"what"}" was "${"before"}" and is "${"now"}" now. Nothing was done. If it is still wanted, propose it again.`,
  OWN_PAYOUT: permissionDenied`You have asked for the payout ${"transactionId"}. Another person must release or refuse it.`,
  PAYOUT_LIST_CHANGED: failedPrecondition`Another list was set since this one was read, so what it ends is not known. Nothing was done. Send the file again.`,
  OWN_PROPOSAL: permissionDenied`You have made the proposal ${"proposalId"}, or it is about yourself. Another person must approve it.`,
  TOO_MANY_PROPOSALS: failedPrecondition`You have ${"limit"} proposals that wait, and more are not allowed. Reject those that you do not need.`,
  ACCOUNT_HAS_OPEN_TRANSACTIONS: failedPrecondition`Account ${"accountId"} has ${"openPayments"} open transactions. Wait until they have ended, or cancel them.`,
  AMOUNT_NOT_PAYABLE: worded("FAILED_PRECONDITION", ["payable", "nearest"], amountNotPayable),
  RAIL_NOT_CONFIGURED: failedPrecondition`The organization cannot use the rail ${"rail"}. Name another one, or ask the operator.`,
  PHONE_NUMBER_NOT_PAYABLE: failedPrecondition`The rail ${"rail"} cannot reach the phone number.`,
  PHONE_NUMBER_COOLING: failedPrecondition`The phone number of account ${"accountId"} was changed a short time ago. Nothing is paid out to it before ${"until"}.`,
  PHONE_NUMBER_MISSING: failedPrecondition`Account ${"accountId"} has no phone number, because its personal data was erased.`,
  RECEIPT_REQUIRED: failedPrecondition`The organization takes deposits, so a mint on the direct rail needs a receipt. Without it, the same shillings could be credited twice.`,
  RECEIPT_ALREADY_USED: worded("ALREADY_EXISTS", ["receipt", "transactionId", "depositId"], receiptAlreadyUsed),
  RECEIPT_OF_OTHER_RAIL: failedPrecondition`The receipt is none of the rail ${"rail"}, which has the order. Give that of this rail: of a bank one with the source of a place that has a figure.`,
  MOVEMENT_NOT_FOUND: notFound`The movement ${"movement"} was not found in the book. Name a receipt that a row has, or a completed transaction.`,
  BOOK_ACCOUNT_TOO_LOW: failedPrecondition`The book account ${"bookAccount"} has ${"balanceCents"}, but ${"requestedCents"} was requested.`,
  /** Nobody has compared the book with the rail yet. */
  BOOK_RESTORED: failedPrecondition`The book comes from a backup. No payment begins until an operator has activated it.`,
  /** The account at the rail was changed since the caller read it. */
  RAIL_ACCOUNT_CHANGED: failedPrecondition`The account at the rail has changed meanwhile. Try again.`,
  RAIL_ACCOUNT_NOT_FOUND: notFound`The organization has no account at the rail ${"rail"}.`,
  RAIL_PAYMENTS_UNDER_WAY: failedPrecondition`Payments over ${"rail"} are under way: ${"payments"}. Another place would not know them. Wait until they have ended.`,
  RESERVE_PLACE_NOT_FOUND: notFound`No figure of the place ${"place"} was recorded yet, and that makes it known. Record one first.`,
  PAYOUTS_NOT_FOUND: notFound`No file with the SHA-256 ${"sha256"} was approved. If one waits, reject its proposal. If its time is over, propose it again.`,
  BANK_FILE_NOT_FOUND: notFound`There is no payment file ${"bankFileId"}, or nobody has approved it.`,
  BANK_FILE_OUTDATED: failedPrecondition`Transaction ${"transactionId"} cannot be in the payment file. It was canceled, is held, or is in another file; or the day of the file is over. Propose a new file.`,
  BANK_FILE_CLOSED: worded(
    "FAILED_PRECONDITION",
    ["bankFileId", "cause"],
    ({ bankFileId, cause }: Pick<RefusalFields, "bankFileId"> & { readonly cause: keyof typeof CLOSED_FILES }) =>
      `The payment file ${bankFileId} cannot be downloaded: ${CLOSED_FILES[cause]} (${cause.toLowerCase()}).`,
  ),
  BANK_PAYMENTS_NOT_FOUND: notFound`No payment waits for a bank: each is in a file, waits for a person, or its account is frozen.`,
  PAYOUT_CHECK_NOT_FOUND: notFound`The organization has no check of payouts. Set one: kesc payouts set-check.`,
  PAYOUTS_CLOSED: failedPrecondition`The payouts over ${"rail"} are closed, or the book comes from a backup that nobody has activated. Open them first.`,
  PAYOUTS_STOPPED: failedPrecondition`A person has stopped the file with the SHA-256 ${"sha256"}: it pays no more rows.`,
  PAYOUTS_ENDED: failedPrecondition`Each row of the file with the SHA-256 ${"sha256"} is decided: there is nothing to stop. Cancel what the rail has not got yet.`,
  RESERVE_SOURCE_TAKEN: failedPrecondition`The place ${"place"} has the source that form.source names, and each place has its own. Give another one.`,
  TOO_MANY_RESERVE_PLACES: failedPrecondition`The organization has figures of ${"limit"} places, and more are not allowed. Record the figure for one of them.`,
  TOO_MANY_REVEALS: resourceExhausted`You looked at personal data, or looked for it, ${"limit"} times in an hour, and more are not allowed. Nothing was shown. Try again in ${"retryMillis"} seconds.`,
  ORGANIZATION_SUSPENDED: permissionDenied`The operator has suspended the organization. Calls that read still work. Ask the operator.`,
  WEBHOOK_ENDPOINT_NOT_FOUND: notFound`Webhook endpoint ${"endpointId"} was not found.`,
  WEBHOOK_ENDPOINT_ALREADY_EXISTS: worded(
    "ALREADY_EXISTS",
    ["endpointId", "differingFields"],
    ({ endpointId, differingFields }: Pick<RefusalFields, "endpointId" | "differingFields">) => {
      const values = differingFields.length === 0 ? "" : `, with other values of ${listOf(differingFields)}`;
      return `The url already has the webhook endpoint ${endpointId}${values}.`;
    },
  ),
  TOO_MANY_WEBHOOK_ENDPOINTS: failedPrecondition`The organization already has ${"limit"} webhook endpoints, the most that it can have.`,
  WEBHOOK_ENDPOINT_BUSY: {
    ...failedPrecondition`Webhook endpoint ${"endpointId"} already replays another range, or too many of its events are undelivered.`,
    retryMillis: SOON_MILLIS,
  },
  WEBHOOK_ENDPOINT_CHANGED: failedPrecondition`Webhook endpoint ${"endpointId"} was changed in the database, past the service. Nothing is sent. Delete it, and create it again.`,
  EVENT_NOT_FOUND: notFound`The book has no event with the sequence ${"sequence"}.`,
  TOO_MANY_WEBHOOK_TESTS: {
    ...resourceExhausted`The organization already sends ${"limit"} test events. Nothing was done. Send the request again later.`,
    retryMillis: SOON_MILLIS,
  },
  /** The book is moving to another cell, or has moved. */
  BOOK_MOVING: {
    ...unavailable`The accounts of the organization are being moved. Nothing was done. Send the request again.`,
    retryMillis: SOON_MILLIS,
  },
  /** The clock of this server is far behind the last row of the book. */
  CLOCK_BEHIND: unavailable`The clock of the server is ${"behindMillis"} seconds slow. Nothing was done. The operator must set it right.`,
  /** The row is not as the service wrote it last. Nobody may act on what it says. */
  ROW_CHANGED: failedPrecondition`The stored row of ${"resourceId"} was changed past the service. Nothing was done. The operator must run kesc verify.`,
  DESTINATION_NOT_FOUND: notFound`Destination ${"destinationId"} was not found on the account, or was removed.`,
  DESTINATION_NOT_PAYABLE: failedPrecondition`The organization's account at the rail ${"rail"} pays no ${"kind"}.`,
  DESTINATION_COOLING: failedPrecondition`Destination ${"destinationId"} is new. Nothing is paid out to it before ${"until"}.`,
  TOO_MANY_DESTINATIONS: failedPrecondition`Account ${"accountId"} already has ${"limit"} destinations, the most that it can have.`,
  // Only operators meet those below: AdminErrorReason has them.
  MISSING_OPERATOR_KEY: unauthenticated`The key is missing. Send an operator's key as x-api-key, or as authorization: Bearer.`,
  INVALID_OPERATOR_KEY: unauthenticated`The key or the session is not that of an operator, or it is no longer valid.`,
  ROLE_REQUIRED: worded(
    "PERMISSION_DENIED",
    ["roles"],
    ({ roles }: { readonly roles: readonly Role[] }) =>
      `You lack the role. This call takes one of: ${roles.join(", ")}.`,
  ),
  ORGANIZATION_NOT_FOUND: notFound`There is no organization ${"organizationId"}.`,
  ORGANIZATION_ALREADY_EXISTS: alreadyExists`The organization ${"organizationId"} has the name already.`,
  ORGANIZATION_CHANGED: failedPrecondition`The row of the organization ${"organizationId"} was changed in the database, past the service. Nothing was done. Run kesc verify, and put the row back.`,
  CELL_NOT_FOUND: notFound`There is no such cell: the database has ${"cells"}, numbered from 0.`,
  RAIL_PLACE_TAKEN: alreadyExists`The ${"place"} belongs to ${"organizationId"} already.`,
  RAIL_REGISTRATION_FAILED: failedPrecondition`The rail ${"rail"} did not register the account: ${"code"}. Nothing has changed here. Repeat the command once the rail takes it; kesc rail probe says what it takes.`,
  OPERATOR_NOT_FOUND: notFound`There is no operator ${"operatorId"}.`,
  OPERATOR_ALREADY_EXISTS: alreadyExists`The operator ${"operatorId"} has the name, or has or had the key.`,
  OPERATOR_REVOKED: failedPrecondition`The operator ${"operatorId"} is revoked, for ever. Create a new operator.`,
  VERIFICATION_REQUIRED: permissionDenied`The session must be fresh. Verify it with a passkey (VerifySession), and send the call again.`,
  MONTH_NOT_READY: worded(
    "FAILED_PRECONDITION",
    ["month", "obstacles"],
    ({ month, obstacles }: Pick<RefusalFields, "month"> & { readonly obstacles: readonly string[] }) =>
      [`The month ${month} cannot be closed yet:`, ...obstacles.map((each) => `- ${each}.`)].join("\n"),
  ),
  MONTH_NOT_CLOSED: notFound`Nobody has closed the month ${"month"}.`,
  MONTH_PACK_DIFFERS: failedPrecondition`The file ${"file"} of the pack is not as it was when kesc ${"kescVersion"} closed ${"month"}. This release writes it in another way, or a row was changed. Keep the first pack, or export it with the release that closed the month. Does that one refuse, too? Then run kesc verify.`,
  SIGN_IN_REFUSED: unauthenticated`The code, the invitation or the passkey is wrong, was used, or is too old. Begin again.`,
  PASSKEY_NOT_FOUND: notFound`The operator ${"operatorId"} never had a passkey ${"passkeyId"}.`,
};

/** A refusal by a business rule, with its facts. The union is closed. */
export type Refusal = RefusalsOf<typeof REFUSALS>;

type Status = AccountStatus | TransactionStatus | DepositStatus;

/** A person can end an order only once the rail was asked, and not as failed while it is asked. */
function invalidTransition({ from, to }: { readonly from: Status; readonly to: Status }): string {
  const words = `The status cannot change from ${from.toLowerCase()} to ${to.toLowerCase()}`;
  if (from === "PROCESSING" && to === "FAILED")
    return `${words} yet: the rail was asked less than a minute ago, and may still get the order. Try again in a minute.`;
  return from === "PENDING" && (to === "COMPLETED" || to === "FAILED")
    ? `${words}: the rail was not asked yet. Cancel the transaction.`
    : `${words}.`;
}

interface LimitExceeded {
  /** Undefined if the limit of the organization's book is reached, not that of the account. */
  readonly accountId: AccountId | undefined;
  readonly limitCents: number;
  /** Undefined if the balance or the book has no room. Then it is no limit that was set. */
  readonly reached?: Omit<ReachedLimit, "limitCents">;
}

const PERIODS = { TRANSACTION: "for one transaction", DAY: "a day", MONTH: "a month" } as const;

function limitExceeded({ accountId, limitCents, reached }: LimitExceeded): string {
  const whose = accountId === undefined ? "The organization" : `Account ${accountId}`;
  const limit = `${whose} would exceed the limit of ${formatCents(limitCents)}`;
  if (reached === undefined) return `${limit}.`;
  const { period, usedCents, remainingCents, resetsAt } = reached;
  if (usedCents === undefined || resetsAt === undefined) return `${limit} ${PERIODS[period]}.`;
  return `${limit} ${PERIODS[period]}: ${formatCents(usedCents)} is used, ${formatCents(remainingCents)} is left until ${new Date(resetsAt).toISOString()}.`;
}

function amountNotPayable({
  payable: { minCents, maxCents, stepCents },
  nearest: { belowCents, aboveCents },
}: {
  readonly payable: PayableAmounts;
  readonly nearest: NearestAmounts;
}): string {
  const range = `from ${formatCents(minCents)} to ${formatCents(maxCents)} in steps of ${formatCents(stepCents)}`;
  const nearest = [belowCents, aboveCents].flatMap((cents) => (cents === undefined ? [] : [formatCents(cents)]));
  return `The rail pays amounts ${range}. The nearest: ${listOf(nearest)}.`;
}

interface ReceiptAlreadyUsed {
  readonly receipt: RailReceipt;
  /** Undefined, as the deposit is, if the receipt belongs to a correction of the book. */
  readonly transactionId: TransactionId | undefined;
  readonly depositId: DepositId | undefined;
}

function receiptAlreadyUsed({ receipt, transactionId, depositId }: ReceiptAlreadyUsed): string {
  const owners = [transactionId, depositId].filter((id) => id !== undefined).join(" and ");
  const ofDeposit = transactionId === undefined && depositId !== undefined;
  const advice = ofDeposit ? " If that deposit waits, a mint of exactly its amount credits it." : "";
  return `The receipt ${receipt} already belongs to ${owners || "a correction of the book"}.${advice}`;
}
