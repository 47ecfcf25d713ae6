import type { Logger } from "pino";

import { toUnixMillis, type UnixMillis } from "../domain/values/time.js";
import type { RailMessage } from "../rails/rail.js";
import { type SubmitWatch, watchOf } from "../settlement/balances.js";
import { RESULT_MILLIS_MAX } from "../settlement/limits.js";
import type { RailAccounts } from "../settlement/ports/rail-accounts.js";
import { failureFacts } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { accountOfQuestion, noteBalance } from "../storage/rails/balances.js";

interface BalanceNotesOptions {
  readonly rails: Pick<RailAccounts, "account">;
  readonly submit: SubmitWatch;
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

/**
 * Returns a function that stores the balance in a message of a rail, and lets the ledger warn of
 * it. Drops a message that is no balance, or that does not come to the address of the question that
 * stands: anybody may have learned an earlier address.
 */
export function balanceNotes(
  cell: Cell,
  { rails, submit, now, logger }: BalanceNotesOptions,
): (question: string, message: RailMessage) => void {
  const note = async (question: string, message: RailMessage): Promise<void> => {
    const id = await accountOfQuestion(cell, question);
    const account = id && rails.account(id);
    const balance = account?.rail.readBalance(message);
    if (account === undefined || balance === undefined) return;
    const answer = { json: JSON.stringify(balance), at: now() };
    if (!(await noteBalance(cell, { id: account.id, question }, answer))) return;
    await submit(watchOf(account, { balance }), toUnixMillis(now() + RESULT_MILLIS_MAX));
  };
  return (question, message) => {
    note(question, message).catch((error: unknown) => {
      logger.warn({ cell: cell.number, ...failureFacts(error) }, "a balance was not stored");
    });
  };
}
