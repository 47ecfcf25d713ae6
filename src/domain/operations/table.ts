import type { Account } from "../account.js";
import type { Command, ResourceOf } from "../commands.js";
import type { Book, Decision, Lookup, Operation } from "../decision.js";
import type { Transaction } from "../transaction.js";
import type { UnixMillis } from "../values/time.js";
import { cancelTransaction } from "./cancel-transaction.js";
import { changeAccountStatus } from "./change-account-status.js";
import { createAccount } from "./create-account.js";
import { moveMoney } from "./move-money.js";

type CommandNamed<Name, C extends Command = Command> = C extends unknown ? (Name extends C["name"] ? C : never) : never;

/**
 * All operations, by the name of their command. The table does not compile without an entry for
 * each command.
 */
const OPERATIONS = {
  createAccount,
  freezeAccount: changeAccountStatus,
  unfreezeAccount: changeAccountStatus,
  closeAccount: changeAccountStatus,
  mint: moveMoney,
  redeem: moveMoney,
  cancelTransaction,
} satisfies { [Name in Command["name"]]: Operation<CommandNamed<Name>, ResourceOf<CommandNamed<Name>>> };

type AnyOperation = Operation<Command, Account | Transaction>;

/** Names the rows that the decision on this command may read. */
export function lookUp(command: Command, rows: Lookup): void {
  (OPERATIONS[command.name] as AnyOperation).lookup(command, rows);
}

/**
 * Decides a command against the state before it. The function is pure: only the store writes the
 * effect.
 */
export function decide(book: Book, command: Command, now: UnixMillis): Decision<Account | Transaction> {
  return (OPERATIONS[command.name] as AnyOperation).decide(book, command, now);
}
