import type { AuditedJournalRow } from "./journal-rows.js";

// Repeated on purpose: an audit must not depend on the code that it audits.

/** The kinds that the first row of an approved act of an operator may have, by the act's name. */
const KINDS_OF_ACTS: Readonly<Record<string, readonly string[]>> = {
  resumeOrganization: ["organization.resumed"],
  requireReceipts: ["organization.receipts_optional"],
  createApiKey: ["key.created"],
  setLimits: ["limits.set"],
  setAccountTier: ["account.tiered"],
  eraseAccount: ["account.erased"],
  unfreezeAccount: ["account.unfrozen"],
  reverseTransaction: ["transaction.completed"],
  resolveTransaction: ["transaction.completed", "transaction.failed"],
  resolveTransactions: ["transaction.completed"],
  setRailAccount: ["rail.changed"],
  setDefaultRail: ["rail.changed"],
  setPayouts: ["rail.changed"],
  recordReserve: ["reserve.recorded"],
  setReserveRules: ["reserve.rules_set"],
  recordDeposit: ["deposit.received"],
  recordDeposits: ["deposit.received"],
  assignDeposit: ["transaction.completed"],
  unassignDeposit: ["transaction.completed"],
  returnDeposit: ["deposit.returned", "deposit.returning"],
  payFile: ["payouts.approved"],
  setPayoutCheck: ["payouts.check_set"],
  clearPayoutCheck: ["payouts.check_cleared"],
  setPayoutList: ["payouts.list_set"],
  releaseTransaction: ["transaction.released"],
  refuseTransaction: ["transaction.failed"],
  collectBankFile: ["bank_file.approved"],
  reportBankFileLost: ["bank_file.lost"],
  reverseDeposit: ["deposit.reversed", "deposit.returned", "transaction.completed"],
};

/** Returns the kinds that the first row of the approved act with this content may have. */
export function kindsOfAct(content: string): readonly string[] {
  return KINDS_OF_ACTS[fieldsIn(content).name ?? ""] ?? ["no row"];
}

/** The kinds of rows after which an act is outdated, by its name, if they are about the same. */
const OUTDATED_BY: Readonly<Record<string, readonly string[]>> = {
  setAccountTier: ["account.tiered"],
  unfreezeAccount: ["account.frozen", "account.unfrozen"],
  eraseAccount: ["account.frozen", "account.unfrozen"],
  recordReserve: ["reserve.recorded"],
  setReserveRules: ["reserve.rules_set"],
};

export const OUTDATING: ReadonlySet<string> = new Set(Object.values(OUTDATED_BY).flat());

/** Returns whether the row outdates a proposal with this content that is older. */
export function outdates({ kind, account_id: account, detail }: OutdatingRow, content: string): boolean {
  const { name = "", accountId = null, place } = fieldsIn(content);
  if (OUTDATED_BY[name]?.includes(kind) !== true) return false;
  return kind === "reserve.recorded"
    ? detail?.startsWith(`[${JSON.stringify(place)},`) === true
    : account === accountId;
}

type OutdatingRow = Pick<AuditedJournalRow, "kind" | "account_id" | "detail">;

interface BookActFields {
  readonly name?: string;
  readonly accountId?: string | null;
  readonly place?: string;
}

/** The fields of an act of an operator. None if the content has another form. */
function fieldsIn(content: string): BookActFields {
  try {
    return (JSON.parse(content) as BookActFields | null) ?? {};
  } catch {
    return {};
  }
}
