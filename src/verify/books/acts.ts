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
  setRailAccount: ["rail.changed"],
  setDefaultRail: ["rail.changed"],
  setPayouts: ["rail.changed"],
  recordReserve: ["reserve.recorded"],
  setReserveRules: ["reserve.rules_set"],
  recordDeposit: ["deposit.received"],
  assignDeposit: ["transaction.completed"],
  unassignDeposit: ["transaction.completed"],
  returnDeposit: ["deposit.returned", "deposit.returning"],
  reverseDeposit: ["deposit.reversed", "deposit.returned", "transaction.completed"],
};

/** Returns the kinds that the first row of the approved act with this content may have. */
export function kindsOfAct(content: string): readonly string[] {
  return KINDS_OF_ACTS[nameIn(content)] ?? ["no row"];
}

/** The name of an act of an operator. Empty if the content has another form. */
function nameIn(content: string): string {
  try {
    const { name } = JSON.parse(content) as { readonly name?: unknown };
    return typeof name === "string" ? name : "";
  } catch {
    return "";
  }
}
