import { contentOfRow } from "../../../domain/row-content.js";
import { formatCents } from "../../../domain/values/cents.js";
import type { AccountId, OrganizationId } from "../../../domain/values/ids.js";
import { type Month, monthOf } from "../../../domain/values/month.js";
import { nairobiDayOf } from "../../../domain/values/nairobi-day.js";
import type {
  GeneralLedgerLine as GeneralLedgerLineMessage,
  JournalLine as JournalLineMessage,
  StatementLine as StatementLineMessage,
} from "../../../gen/kesc/v1/statement.js";
import type { LedgerLine, StatementLine } from "../../../statements/exports.js";
import type { BookLine } from "../../../statements/ports.js";
import { kindOfPosting, sourceOf } from "../../../statements/posting-kinds.js";
import { totalOf } from "../../../statements/statement.js";
import { shown } from "../fields.js";
import { toTimestamp } from "../timestamp.js";

/** The book of a line. */
interface LineOwner {
  readonly organizationId: OrganizationId;
}

export function toStatementLine(
  { line, ...given }: StatementLine,
  { organizationId, accountId }: LineOwner & { readonly accountId: AccountId },
): StatementLineMessage {
  const { availableCents, heldCents } = given.balances;
  return {
    sequence: formatSeq(given.seq),
    date: given.date,
    recorded_at: toTimestamp(given.time),
    type: given.kind,
    transaction_id: line?.transactionId,
    reference: shown(line?.reference),
    description: shown(line?.description),
    rail_receipt: shown(line?.receipt),
    amount_in: formatGiven(given.inCents),
    amount_out: formatGiven(given.outCents),
    balance: formatCents(totalOf(given.balances)),
    available_balance: formatCents(availableCents),
    held_balance: formatCents(heldCents),
    organization_id: organizationId,
    account_id: accountId,
    kind: line && kindOfPosting(line),
  };
}

export function toJournalLine(line: BookLine, owner: LineOwner): JournalLineMessage {
  const { balancesAfter: after } = line;
  const { statedCents, asOfDay: as_of_day, ...said } = contentOfRow(line);
  return {
    sequence: BigInt(line.seq),
    date: nairobiDayOf(line.recordedAt),
    recorded_at: toTimestamp(line.recordedAt),
    type: line.kind,
    account_id: line.accountId,
    transaction_id: line.transactionId,
    debit_account: line.debit,
    credit_account: line.credit,
    amount: formatGiven(line.amountCents),
    available_balance: formatGiven(after?.availableCents),
    held_balance: formatGiven(after?.heldCents),
    reference: shown(line.reference),
    description: shown(line.description),
    rail_receipt: shown(line.receipt),
    actor: line.actor,
    note: shown(line.note),
    stated_amount: formatGiven(statedCents),
    as_of_day,
    place: said.place,
    evidence: said.evidence,
    direction: said.direction,
    movement: said.movement,
    detail: said.detail,
    ...columnsOf(line, owner),
  };
}

/** One KESC is one KES. */
const CURRENCY = "KES";

/** The columns that a line of the journal and one of the general ledger share. */
function columnsOf(line: BookLine | undefined, { organizationId }: LineOwner) {
  return {
    kind: line && kindOfPosting(line),
    source: line && sourceOf(line),
    currency: CURRENCY,
    user_id: line?.userId,
    organization_id: organizationId,
    corrects_month: line && correctedMonthOf(line),
  };
}

/** A correction in the month of its movement is no matter of another month. */
function correctedMonthOf({ recordedAt, correctedAt }: BookLine): Month | undefined {
  if (correctedAt === undefined) return undefined;
  const corrected = monthOf(correctedAt);
  return corrected === monthOf(recordedAt) ? undefined : corrected;
}

export function toGeneralLedgerLine({ line, ...given }: LedgerLine, owner: LineOwner): GeneralLedgerLineMessage {
  const { balanceCents } = given;
  return {
    sequence: formatSeq(given.seq),
    date: given.date,
    recorded_at: toTimestamp(given.time),
    type: given.kind,
    book_account: given.account,
    debit: formatGiven(given.debitCents),
    credit: formatGiven(given.creditCents),
    balance: `${balanceCents < 0 ? "-" : ""}${formatCents(Math.abs(balanceCents))}`,
    account_id: line?.accountId,
    transaction_id: line?.transactionId,
    reference: shown(line?.reference),
    description: shown(line?.description),
    rail_receipt: shown(line?.receipt),
    ...columnsOf(line, owner),
    note: shown(line?.note),
  };
}

/** Before the first row of the book there is none. */
function formatSeq(seq: number): bigint | undefined {
  return seq === 0 ? undefined : BigInt(seq);
}

function formatGiven(cents: number | undefined): string | undefined {
  return cents === undefined ? undefined : formatCents(cents);
}
