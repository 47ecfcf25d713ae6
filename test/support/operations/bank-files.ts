import type { LedgerAccount } from "../../../src/domain/account.js";
import { type BankFileId, bankFileId } from "../../../src/domain/bank-file.js";
import { bankNumber } from "../../../src/domain/destination.js";
import type { Payment } from "../../../src/domain/payment.js";
import type { Transaction } from "../../../src/domain/transaction.js";
import { OPERATOR } from "../../../src/domain/values/actor.js";
import { toCents } from "../../../src/domain/values/cents.js";
import type { OrganizationId } from "../../../src/domain/values/ids.js";
import type { NairobiDay } from "../../../src/domain/values/nairobi-day.js";
import type { Loaded } from "../../../src/ledger/ports/store.js";
import { buildByPerson, type CommandOf, type Given } from "../commands.js";
import { givenAccount, givenPayment, givenPending, railAccount } from "../given.js";
import { ORGANIZATION, RAIL_TERMS } from "../names.js";
import type { OperationRows } from "./row.js";

const SHA256 = "a".repeat(64);
/** The file of the examples. */
export const BANK_FILE_ID = bankFileId("b".repeat(64));
/** An account at a bank. */
export const PAYEE = bankNumber({ bankCode: "01", branchCode: "175", account: "1104567890", holder: "Jane Doe" });

/** Gives payments to the bank in one file. */
export function collectBankFile(
  organizationId: OrganizationId,
  payments: CommandOf<"collectBankFile">["payments"],
  given: Given<"collectBankFile"> = {},
): CommandOf<"collectBankFile"> {
  const account = { railAccountId: RAIL_TERMS.railAccountId, railRevision: 1 };
  const file = { id: BANK_FILE_ID, sha256: SHA256, day: "2026-12-01" as NairobiDay };
  return buildByPerson("collectBankFile", organizationId, { ...account, ...file, payments, ...given });
}

export function downloadBankFile(
  organizationId: OrganizationId,
  id: BankFileId = BANK_FILE_ID,
): CommandOf<"downloadBankFile"> {
  return buildByPerson("downloadBankFile", organizationId, { id });
}

export function reportBankFileLost(
  organizationId: OrganizationId,
  id: BankFileId = BANK_FILE_ID,
): CommandOf<"reportBankFileLost"> {
  return buildByPerson("reportBankFileLost", organizationId, { id });
}

interface WaitingForBank {
  readonly transaction: Transaction;
  readonly payment: Payment;
  readonly account: LedgerAccount;
  readonly collected: CommandOf<"collectBankFile">["payments"][number];
  readonly rows: Partial<Loaded>;
}

/** A book with a payment to a bank that waits for a file. */
export function waitingForBank(amountCents = toCents(1_200_000_000)): WaitingForBank {
  const account = givenAccount({ heldCents: amountCents, openPayments: 1 });
  const transaction = givenPending({ accountId: account.id, type: "REDEEM", amountCents });
  const payment = givenPayment(transaction, { numberKind: "BANK", number: PAYEE });
  return {
    transaction,
    payment,
    account,
    collected: { transactionId: transaction.id, amountCents },
    rows: {
      accounts: [account],
      transactions: [transaction],
      payments: [payment],
      railAccounts: [railAccount(ORGANIZATION)],
    },
  };
}

const DETAIL = JSON.stringify([BANK_FILE_ID, RAIL_TERMS.railAccountId, SHA256, 1, 100, "2026-12-01"]);
/** The row of a book that approved the file. */
export const APPROVED_FILE = {
  organizationId: ORGANIZATION,
  kind: "bank_file.approved",
  detail: DETAIL,
  actor: OPERATOR,
} as const;

const { rows, collected } = waitingForBank();

/** The operations on payment files for banks. */
export const ON_BANK_FILES = {
  collectBankFile: {
    example: ({ organizationId, orders: { toBank: transactionId } }) =>
      collectBankFile(organizationId, [{ transactionId, amountCents: toCents(100) }]),
    proposed: {
      rows,
      command: collectBankFile(ORGANIZATION, [collected]),
      shown: [
        `payment file:  > ${BANK_FILE_ID}`,
        `SHA-256 of the file:  > ${SHA256}`,
        "payments:  > 1 on 2026-12-01, together 12,000,000.00 KES",
      ],
      thereAndBack: "a file is approved once",
    },
  },
  downloadBankFile: {
    repeated: "effect",
    example: ({ organizationId }) => downloadBankFile(organizationId),
  },
  reportBankFileLost: {
    example: ({ organizationId }) => reportBankFileLost(organizationId),
    proposed: {
      rows: { bankFiles: [APPROVED_FILE] },
      command: reportBankFileLost(ORGANIZATION),
      shown: [`payment file ${BANK_FILE_ID}: approved > lost`],
      thereAndBack: "a file is lost for ever",
    },
  },
} satisfies Partial<OperationRows>;
