import { BOOK_ACCOUNTS } from "../../../domain/journal.js";
import { FLAG_REASONS } from "../../../domain/payment.js";
import { parseReceiptText, sourceAndNumber } from "../../../domain/receipt.js";
import { formatCents, parseAmount } from "../../../domain/values/cents.js";
import { parseAccountId, parseTransactionId } from "../../../domain/values/ids.js";
import { parsed, unparsed } from "../../../domain/values/parsed.js";
import { parseIdempotencyKey, parseReference } from "../../../domain/values/text.js";
import { UsageError } from "../../../startup/operator-error.js";
import { type CommandParameter, type MessageJson, type Row, textOf } from "../row.js";
import { argument, idArgument, NOTE, OWNER } from "./parameters.js";

const AMOUNT = {
  flags: "--amount <amount>",
  help: "KES, such as 100.00",
  field: "amount",
  required: true,
  parse: (text) => formatCents(argument(parseAmount)(text)),
} as const satisfies CommandParameter;

const RECEIPT = {
  flags: "--receipt <receipt>",
  help: "the rail's receipt",
  field: "rail_receipt",
  required: true,
  parse: argument(parseReceiptText),
} as const satisfies CommandParameter;

const DIRECTION = {
  flags: "--direction <direction>",
  help: "into the rail's account, or out of it: in, out",
  field: "direction",
  required: true,
  parse: argument(oneOf(["in", "out"])),
} as const satisfies CommandParameter;

const KEY = {
  flags: "--key <key>",
  help: "your name for this correction: the same key does it once, however often it is sent",
  required: true,
  isIdempotencyKey: true,
  parse: argument(parseIdempotencyKey),
} as const satisfies CommandParameter;

const ACCOUNT = {
  flags: "--account <account-id>",
  help: 'the account ("acc_…")',
  field: "account_id",
  required: true,
  parse: idArgument("account", parseAccountId, "To list the accounts: kesc account list"),
} as const satisfies CommandParameter;

const MAYBE_ACCOUNT: CommandParameter = { ...ACCOUNT, required: undefined };

const TRANSACTION_ARGUMENT = {
  flags: "<transaction-id>",
  help: 'id of the transaction ("txn_…")',
  field: "transaction_id",
  parse: idArgument("transaction", parseTransactionId, "To list the transactions: kesc transaction list"),
} as const satisfies CommandParameter;

const OUTCOMES = ["completed", "failed", "moved"] as const;

/** The commands that settle transactions, and correct books. */
export const MONEY_ROWS: readonly Row[] = [
  {
    path: "transaction resolve",
    description: "end a transaction whose outcome the rail does not tell, by what you found out",
    rpc: "ResolveTransaction",
    parameters: [
      TRANSACTION_ARGUMENT,
      OWNER,
      {
        flags: "--outcome <outcome>",
        help: `what happened: ${OUTCOMES.join(", ")}`,
        required: true,
        parse: argument(oneOf(OUTCOMES)),
      },
      { ...RECEIPT, help: "the rail's receipt, of completed and moved", field: undefined, required: undefined },
      { ...AMOUNT, help: "what really moved, of moved", field: undefined, required: undefined },
      NOTE,
    ],
    request: ({ given }) => ({ fields: outcomeIn(given) }),
    shows: undefined,
    intent: (_shown, { given }) => `${textOf(given["transactionId"])}: ${intentOf(given)}`,
    done: resolvedWords,
    unchanged: (shown) => `${resolvedWords(shown)} It was resolved before.`,
  },
  {
    path: "transaction clear-flag",
    description: "clear a flag of a transaction, after you have looked at its cause",
    rpc: "ClearFlag",
    parameters: [
      TRANSACTION_ARGUMENT,
      OWNER,
      {
        flags: "--flag <flag>",
        help: `the flag to clear: ${FLAG_REASONS.map((flag) => flag.toLowerCase()).join(", ")}`,
        field: "flag",
        required: true,
        parse: (text) => text.toLowerCase(),
      },
      NOTE,
    ],
    shows: "transaction",
    done: (transaction, { given }) => `Cleared ${textOf(given["flag"])} of ${textOf(transaction["id"])}.`,
    unchanged: (transaction, { given }) =>
      `The flag ${textOf(given["flag"])} of ${textOf(transaction["id"])} is not up.`,
  },
  {
    path: "transaction cancel",
    description: "cancel a pending transaction, whose rail was not asked yet",
    rpc: "CancelTransaction",
    parameters: [TRANSACTION_ARGUMENT, OWNER, NOTE],
    shows: "transaction",
    done: "Canceled {id}.",
    unchanged: "{id} was canceled before.",
  },
  {
    path: "transaction reverse",
    description: "undo a completed transaction of the direct rail, once and in full",
    rpc: "ReverseTransaction",
    parameters: [
      TRANSACTION_ARGUMENT,
      OWNER,
      {
        flags: "--receipt <receipt>",
        help: "what proves that the shillings moved back: the number of M-Pesa, or source:number",
        parse: argument(parseReceiptText),
      },
      { ...NOTE, field: "description" },
    ],
    request: ({ given: { receipt } }) => ({
      fields: receipt === undefined ? {} : { receipt: sourceAndNumber(textOf(receipt)) },
    }),
    shows: "transaction",
    intent: (_shown, { given }) =>
      `This would reverse ${textOf(given["transactionId"])}. Nothing was done. To do it, add --yes.`,
    done: (reversal, { given }) => `Reversed ${textOf(given["transactionId"])} by ${textOf(reversal["id"])}.`,
    unchanged: (reversal, { given }) =>
      `${textOf(given["transactionId"])} was reversed before, by ${textOf(reversal["id"])}.`,
  },
  correction("cover", "CoverShortfall", "shillings were put back for a shortfall", []),
  correction("recover", "RecoverShortfall", "an account pays for a shortfall", [ACCOUNT]),
  correction(
    "paid",
    "BookPayment",
    "shillings went out without an order: --account pays for them, or they are missing",
    [RECEIPT, MAYBE_ACCOUNT],
  ),
  correction(
    "adjust",
    "AdjustMovement",
    "more came in or went out than the book has of a movement: --account gets or pays it",
    [
      {
        flags: "--movement <name>",
        help: "receipt of the movement, or id of its transaction",
        field: "movement",
        required: true,
        parse: argument(parseReference),
      },
      DIRECTION,
      MAYBE_ACCOUNT,
    ],
  ),
  correction(
    "transfer",
    "ExplainTransfer",
    "shillings moved between the rail and another place of yours, such as the bank",
    [RECEIPT, DIRECTION],
  ),
  correction(
    "fund",
    "FundCharges",
    "shillings were put in for the charges of rails, or were taken out of what was paid ahead",
    [RECEIPT, DIRECTION],
  ),
];

function correction(command: string, rpc: string, description: string, parameters: readonly CommandParameter[]): Row {
  return {
    path: `book ${command}`,
    description,
    rpc,
    parameters: [OWNER, AMOUNT, ...parameters, KEY, NOTE],
    shows: "sums",
    intent: (_shown, { given }) =>
      `This would book ${textOf(given["amount"])} KES: ${description}. Nothing was done. To do it, add --yes.`,
    done: (sums) => `Done. ${sumsWords(sums)}`,
    unchanged: (sums) => `Done before. ${sumsWords(sums)}`,
  };
}

function sumsWords(sums: MessageJson): string {
  return `The book: ${BOOK_ACCOUNTS.map((name) => `${name} ${textOf(sums[name])}`).join(", ")}.`;
}

function oneOf<Name extends string>(names: readonly Name[]) {
  return (text: string) => {
    const name = names.find((known) => known === text);
    return name === undefined ? unparsed(`must be one of ${names.join(", ")}`) : parsed(name);
  };
}

/** Throws an OperatorError if the options do not fit the outcome. */
function outcomeIn({ outcome, receipt, amount }: MessageJson): MessageJson {
  const needs = { completed: [true, false], failed: [false, false], moved: [true, true] } as const;
  const name = outcome as keyof typeof needs;
  const [needsReceipt, needsAmount] = needs[name];
  const options = [
    ["--receipt", receipt, needsReceipt],
    ["--amount", amount, needsAmount],
  ] as const;
  for (const [option, value, isNeeded] of options) {
    if ((value !== undefined) === isNeeded) continue;
    throw new UsageError(`--outcome ${name} ${isNeeded ? "needs" : "has no"} ${option}.`);
  }
  return {
    [name]: {
      ...(receipt === undefined ? {} : { rail_receipt: receipt }),
      ...(amount === undefined ? {} : { amount }),
    },
  };
}

function intentOf(given: MessageJson): string {
  const [name = ""] = Object.keys(outcomeIn(given));
  const consequence = {
    completed: "end it as COMPLETED, with the receipt",
    failed:
      "end it as FAILED, and release the hold of a redemption. If the rail has moved shillings after all, they are lost",
    moved: "end it as FAILED, and book what really moved as a correction",
  }[name];
  return `this would ${consequence ?? ""}. Nothing was done. To do it, add --yes.`;
}

function resolvedWords({ transaction, correction: booked }: MessageJson): string {
  return [transaction, booked]
    .filter((each) => each !== null)
    .map((each) => {
      const { id, status, amount, corrects_transaction_id: corrected } = each as MessageJson;
      const words = `${textOf(id)} is ${textOf(status)}, ${textOf(amount)} KESC.`;
      return corrected === null ? words : `${words} It corrects ${textOf(corrected)}.`;
    })
    .join("\n");
}
