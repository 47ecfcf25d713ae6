import type { LedgerAccount } from "../account.js";
import type { Book } from "../decision.js";
import type { Deposit } from "../deposit.js";
import type { Posting } from "../journal.js";
import { moved, takenBack } from "../movement.js";
import { accountOf } from "../orders/order.js";
import type { RailReceipt } from "../payment.js";
import { reversalReference, type Transaction } from "../transaction.js";
import type { TransactionId } from "../values/ids.js";
import { type DepositAct, type DepositStep, NO_WORDS } from "./credit.js";

/** The mint that credits a deposit, and its account. */
export interface Credit {
  readonly mint: Transaction;
  readonly account: LedgerAccount;
}

/**
 * Returns the mint that credits the deposit. Undefined if it is not the one that the command names:
 * then the ledger has locked another account.
 */
export function creditOf(
  book: Book,
  { organizationId, status, transactionId }: Deposit,
  named: TransactionId | undefined,
): Credit | undefined {
  const isNamed = status === "CREDITED" && transactionId !== undefined && transactionId === named;
  const mint = isNamed ? book.transaction(organizationId, transactionId) : undefined;
  return mint === undefined ? undefined : { mint, account: accountOf(book, mint) };
}

/** Undoes the mint that credits a deposit, by a redemption. It counts no longer. */
export function takeBack(
  book: Book,
  { mint, account }: Credit,
  given: {
    /** The deposit afterwards. */
    readonly deposit: Deposit;
    readonly posting: Posting;
    readonly receipt: RailReceipt | undefined;
    readonly newTransactionId: TransactionId;
  },
  { actor, reason, now }: DepositAct,
): DepositStep {
  const { deposit, posting, receipt, newTransactionId: id } = given;
  const { organizationId, accountId, amountCents, rail } = mint;
  const { resource, effect } = moved(
    takenBack(book, account, mint, now),
    {
      ...NO_WORDS,
      id,
      organizationId,
      accountId,
      type: "REDEEM",
      amountCents,
      reference: reversalReference(mint.id),
      rail,
      railReceipt: receipt,
      corrects: { kind: "REVERSAL", transactionId: mint.id },
      depositId: deposit.id,
      destinationId: undefined,
      posting,
    },
    { actor, idempotencyKey: undefined, now, reason },
  );
  return {
    deposit,
    transaction: resource,
    effect: {
      ...effect,
      puts: [
        ...effect.puts,
        { table: "transactions", row: { ...mint, reversedById: id } },
        { table: "deposits", row: deposit },
      ],
    },
  };
}
