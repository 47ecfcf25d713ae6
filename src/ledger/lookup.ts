import type { Command } from "../domain/commands.js";
import type { AccountId, TransactionId } from "../domain/values/ids.js";
import type { Lookup } from "./ports/store.js";

/** What the commands name: all that their decisions may look at. */
export function lookupOf(commands: readonly Command[]): Lookup {
  const accountIds = new Set<AccountId>();
  const transactionIds = new Set<TransactionId>();
  const users: Lookup["users"][number][] = [];
  const references: Lookup["references"][number][] = [];
  const idempotencyKeys: Lookup["idempotencyKeys"][number][] = [];

  for (const command of commands) {
    const { organizationId } = command;
    switch (command.name) {
      case "createAccount":
        users.push({ organizationId, userId: command.userId });
        break;
      case "freezeAccount":
      case "unfreezeAccount":
      case "closeAccount":
        accountIds.add(command.accountId);
        break;
      case "mint":
      case "redeem":
        accountIds.add(command.accountId);
        references.push({ organizationId, reference: command.reference });
        break;
      case "cancelTransaction":
        transactionIds.add(command.transactionId);
        break;
    }
    if ("idempotencyKey" in command && command.idempotencyKey !== undefined) {
      idempotencyKeys.push({ organizationId, key: command.idempotencyKey });
    }
  }
  return { accountIds: [...accountIds], users, transactionIds: [...transactionIds], references, idempotencyKeys };
}
