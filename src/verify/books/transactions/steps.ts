import type { JournalKind } from "../../../domain/journal.js";
import { DIRECT_RAIL, type TransactionStatus, type TransactionType } from "../../../domain/transaction.js";
import type { Direction } from "../../format.js";

export type TransactionKind = Extract<JournalKind, `transaction.${string}`>;

/** The status that a row of each kind sets. A kind that sets none has undefined. */
export const STATUSES: Readonly<Record<TransactionKind, TransactionStatus | undefined>> = {
  "transaction.pending": "PENDING",
  "transaction.held": undefined,
  "transaction.released": undefined,
  "transaction.checked": undefined,
  "transaction.processing": "PROCESSING",
  "transaction.completed": "COMPLETED",
  "transaction.failed": "FAILED",
  "transaction.canceled": "CANCELED",
  "transaction.receipted": undefined,
  "transaction.flagged": undefined,
  "transaction.attended": undefined,
  "transaction.resolution_proposed": undefined,
};

/** The steps that the rules allow, and the postings that each may have. Null moves no money. */
export type AuditedSteps = Readonly<Partial<Record<TransactionKind, readonly (Direction | null)[]>>>;

// Repeated on purpose: an audit must not depend on the code that it audits.
const MINTED = { debit: "reserve", credit: "available" } as const;
const UNALLOCATED = { debit: "reserve", credit: "unallocated" } as const;
const REDEEMED = { debit: "available", credit: "reserve" } as const;
const SHORTFALL = { debit: "shortfall", credit: "reserve" } as const;
const HELD = { debit: "available", credit: "held" } as const;
const RELEASED = { debit: "held", credit: "available" } as const;
const BURNED = { debit: "held", credit: "reserve" } as const;
const CREDITED = { debit: "unallocated", credit: "available" } as const;
const UNCREDITED = { debit: "available", credit: "unallocated" } as const;

interface Rules {
  readonly direct: AuditedSteps;
  readonly late: AuditedSteps;
  /** Of a transaction about a deposit. */
  readonly ofDeposit: AuditedSteps;
  readonly otherRails: AuditedSteps;
  readonly whilePending: AuditedSteps;
  readonly whileProcessing: AuditedSteps;
}

const FLAGGED: AuditedSteps = { "transaction.flagged": [null] };
const ATTENDED: AuditedSteps = { ...FLAGGED, "transaction.attended": [null] };

const RULES: Readonly<Record<TransactionType, Rules>> = {
  MINT: {
    direct: { "transaction.completed": [MINTED] },
    late: { "transaction.completed": [MINTED, UNALLOCATED] },
    ofDeposit: { "transaction.completed": [CREDITED] },
    otherRails: { "transaction.pending": [null] },
    whilePending: {
      "transaction.processing": [null],
      "transaction.failed": [null],
      "transaction.canceled": [null],
      ...ATTENDED,
    },
    whileProcessing: {
      "transaction.completed": [MINTED, UNALLOCATED],
      "transaction.failed": [null],
      "transaction.resolution_proposed": [null],
      ...FLAGGED,
    },
  },
  REDEEM: {
    direct: { "transaction.completed": [REDEEMED] },
    late: { "transaction.completed": [REDEEMED, SHORTFALL] },
    ofDeposit: { "transaction.completed": [UNCREDITED, REDEEMED, SHORTFALL] },
    otherRails: { "transaction.pending": [HELD] },
    whilePending: {
      "transaction.processing": [null],
      "transaction.failed": [RELEASED],
      "transaction.canceled": [RELEASED],
      "transaction.held": [null],
      "transaction.released": [null],
      "transaction.checked": [null],
      ...ATTENDED,
    },
    whileProcessing: {
      "transaction.completed": [BURNED],
      "transaction.failed": [RELEASED],
      "transaction.resolution_proposed": [null],
      ...FLAGGED,
    },
  },
};

/** Returns the steps that a transaction can take next. */
export function stepsAfter(
  status: TransactionStatus | undefined,
  {
    type,
    rail,
    correction,
    deposit_id: depositId,
  }: { type: string; rail: string; correction: string | null; deposit_id: string | null },
): AuditedSteps {
  if (!isTransactionType(type)) return {};
  const rules = RULES[type];
  switch (status) {
    case undefined:
      if (depositId !== null) return rules.ofDeposit;
      if (rail === DIRECT_RAIL) return rules.direct;
      return correction === "LATE" ? rules.late : rules.otherRails;
    case "PENDING":
      return rules.whilePending;
    case "PROCESSING":
      return rules.whileProcessing;
    case "COMPLETED":
      // No rail was asked for a transaction about a deposit, so none reports anything about it.
      return rail === DIRECT_RAIL || depositId !== null ? {} : { "transaction.receipted": [null], ...ATTENDED };
    case "FAILED":
    case "CANCELED":
      return ATTENDED;
  }
}

/** Returns whether the transaction has ended. Rows about a rail's reports may follow. */
export function isLastKind(kind: string): boolean {
  if (!isTransactionKind(kind)) return false;
  const status = STATUSES[kind];
  return status !== undefined && status !== "PENDING" && status !== "PROCESSING";
}

export function isTransactionKind(kind: string): kind is TransactionKind {
  return Object.hasOwn(STATUSES, kind);
}

function isTransactionType(type: string): type is TransactionType {
  return Object.hasOwn(RULES, type);
}
