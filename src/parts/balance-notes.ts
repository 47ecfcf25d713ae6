import type { Logger } from "pino";

import { toUnixMillis } from "../domain/values/time.js";
import type { RailMessage } from "../rails/rail.js";
import { watchOf } from "../settlement/balances.js";
import type { RailFaults } from "../settlement/faults.js";
import { RESULT_MILLIS_MAX } from "../settlement/limits.js";
import type { SettledAccounts } from "../settlement/ports/rail-accounts.js";
import type { SubmitWatch } from "../settlement/ports/runtime.js";
import type { OnEvent, SettlementTiming } from "../settlement/ports/runtime.js";
import { failureFacts } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { accountOfQuestion, endQuestion, noteBalance } from "../storage/rails/balances.js";

interface BalanceNotesOptions {
  readonly rails: SettledAccounts;
  readonly faults: RailFaults;
  readonly submit: SubmitWatch;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
  readonly logger: Logger;
}

/**
 * Returns a function that stores the balance in a message of a rail, and lets the ledger warn of
 * it. Drops a message that is no balance, or that does not come to the address of the question that
 * stands: anybody may have learned an earlier address. A refusal of the initiator is a warning.
 */
export function balanceNotes(
  cell: Cell,
  { rails, faults, submit, timing, onEvent, logger }: BalanceNotesOptions,
): (question: string, message: RailMessage) => void {
  const { now } = timing;
  const note = async (question: string, message: RailMessage): Promise<void> => {
    const id = await accountOfQuestion(cell, question);
    const account = id && rails.account(id);
    const report = account?.rail.readBalance(message);
    if (account === undefined || report === undefined) return;
    if (report.kind === "refused") {
      if (!(await endQuestion(cell, { id: account.id, question }))) return;
      onEvent({ kind: "no balance", railAccountId: account.id, code: report.code });
      // The account may have been set a moment ago: the refusal is about the newest credentials.
      await rails.refresh();
      await faults.note(rails.account(account.id) ?? account, report.fault);
      return;
    }
    const { balance } = report;
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
