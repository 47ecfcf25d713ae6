import type { Account } from "../account.js";
import type { Command, ResourceOf } from "../commands.js";
import type { Book, Decision, Lookup, Operation } from "../decision.js";
import type { Transaction } from "../transaction.js";
import type { UnixMillis } from "../values/time.js";
import { cancelTransaction } from "./cancel-transaction.js";
import { changeAccountStatus } from "./change-account-status.js";
import { createAccount } from "./create-account.js";
import { eraseAccount } from "./erase-account.js";
import { moveMoney } from "./move-money.js";
import { reverseTransaction } from "./reverse-transaction.js";
import { updateAccount } from "./update-account.js";

type CommandNamed<Name, C extends Command = Command> = C extends unknown ? (Name extends C["name"] ? C : never) : never;

/**
 * All operations, by the name of their command. The table does not compile without an entry for
 * each command.
 */
const OPERATIONS = {
  createAccount,
  updateAccount,
  freezeAccount: changeAccountStatus,
  unfreezeAccount: changeAccountStatus,
  closeAccount: changeAccountStatus,
  eraseAccount,
  mint: moveMoney,
  redeem: moveMoney,
  reverseTransaction,
  cancelTransaction,
} satisfies { [Name in Command["name"]]: Operation<CommandNamed<Name>, ResourceOf<CommandNamed<Name>>> };

export const COMMAND_NAMES = Object.keys(OPERATIONS) as readonly Command["name"][];

/** The operation that decides the commands of this name. */
export function operationOf(name: Command["name"]): Operation<Command, Account | Transaction> {
  return OPERATIONS[name] as Operation<Command, Account | Transaction>;
}

/** Names the rows that the decision on this command may read. */
export function lookUp(command: Command, rows: Lookup): void {
  operationOf(command.name).lookup(command, rows);
}

/**
 * Decides a command against the state before it. The function is pure: only the store writes the
 * effect.
 */
export function decide(book: Book, command: Command, now: UnixMillis): Decision<Account | Transaction> {
  return operationOf(command.name).decide(book, command, now);
}
