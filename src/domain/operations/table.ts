import type { Account } from "../account.js";
import type { Command } from "../commands.js";
import type { Book, Decision } from "../decision.js";
import type { Transaction } from "../transaction.js";
import type { UnixMillis } from "../values/time.js";
import { decideCancelTransaction } from "./cancel-transaction.js";
import { decideChangeAccountStatus } from "./change-account-status.js";
import { decideCreateAccount } from "./create-account.js";
import { decideMoveMoney } from "./move-money.js";

/**
 * Decides any command against the state before it. Pure: nothing changes until the effect is
 * applied and saved.
 */
export function decide(book: Book, command: Command, now: UnixMillis): Decision<Account | Transaction> {
  switch (command.name) {
    case "createAccount":
      return decideCreateAccount(book, command, now);
    case "freezeAccount":
    case "unfreezeAccount":
    case "closeAccount":
      return decideChangeAccountStatus(book, command, now);
    case "mint":
    case "redeem":
      return decideMoveMoney(book, command, now);
    case "cancelTransaction":
      return decideCancelTransaction(book, command, now);
  }
}
