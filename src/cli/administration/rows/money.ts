import { BOOK_ACCOUNTS } from "../../../domain/journal.js";
import { sourceAndNumber } from "../../../domain/receipt.js";
import { UsageError } from "../../../startup/operator-error.js";
import { textOf } from "../../commands/output.js";
import type { MessageJson, OneRow } from "../row.js";
import type { CommandRows, Written, WrittenParameter } from "./written.js";

const RECEIPT = {
  of: "--receipt",
  help: "the rail's receipt",
  field: "rail_receipt",
} as const satisfies WrittenParameter;

/** The commands that settle transactions, and correct books. */
export const MONEY_ROWS: CommandRows = {
  "transaction resolve": {
    description: "end a transaction whose outcome the rail does not tell, by what you found out",
    rpc: "ResolveTransaction",
    examples: [
      'txn_01jd2r6p5vf8ksw3xhb1z7q4ye --outcome completed --receipt RKTQDM7W01 --org "Acme" --note "in the statement" --yes',
    ],
    parameters: [
      "<transaction-id>",
      "--org",
      "--outcome",
      { of: "--receipt?", help: "the rail's receipt, of completed and moved", field: null },
      { of: "--amount?", help: "what really moved, of moved", field: null },
      "--note",
    ],
    request: ({ given }) => ({ fields: outcomeIn(given) }),
    intent: (_shown, { given, say }) => `${say("<transaction-id>")}: ${intentOf(given)}`,
    done: resolvedWords,
    unchanged: (shown) => `${resolvedWords(shown)} It was resolved before.`,
  },
  "transaction clear-flag": {
    description: "clear a flag of a transaction, after you have looked at its cause",
    rpc: "ClearFlag",
    examples: ['txn_01jd2r6p5vf8ksw3xhb1z7q4ye --flag report_differs --org "Acme" --note "the statement agrees"'],
    parameters: ["<transaction-id>", "--org", "--flag", "--note"],
    done: "Cleared {--flag} of {id}.",
    unchanged: "The flag {--flag} of {id} is not up.",
  },
  "transaction cancel": {
    description: "cancel a pending transaction, whose rail was not asked yet",
    rpc: "CancelTransaction",
    examples: ['txn_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "the user called"'],
    parameters: ["<transaction-id>", "--org", "--note"],
    done: "Canceled {id}.",
    unchanged: "{id} was canceled before.",
  },
  "transaction release": {
    description: "let a redemption that is held go to its rail, unless you have proposed its file",
    rpc: "ReleaseTransaction",
    examples: ['txn_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "called the merchant" --yes'],
    parameters: ["<transaction-id>", "--org", "--note"],
    intent: "This would pay {<transaction-id>} out.",
    done: "Released {id}. Its rail is asked as soon as nothing else keeps it waiting.",
    unchanged: "{id} is not held.",
  },
  "transaction refuse": {
    description: "end a redemption that is held: its KESC is available again",
    rpc: "RefuseTransaction",
    examples: ['txn_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "not a merchant of ours" --yes'],
    parameters: ["<transaction-id>", "--org", "--note"],
    intent: "This would refuse {<transaction-id>} for ever.",
    done: "Refused {id}. Its KESC is available again.",
    unchanged: "{id} was refused before.",
  },
  "transaction reverse": {
    description: "undo a completed transaction of the direct rail, once and in full",
    rpc: "ReverseTransaction",
    examples: ['txn_01jd2r6p5vf8ksw3xhb1z7q4ye --receipt kcb-1234:FT26330XK2 --org "Acme" --note "paid twice" --yes'],
    parameters: [
      "<transaction-id>",
      "--org",
      {
        of: "--receipt?",
        help: "what proves that the shillings moved back: the number of M-Pesa, or source:number",
        field: null,
      },
      { of: "--note", field: "description" },
    ],
    request: ({ given: { receipt } }) => ({
      fields: receipt === undefined ? {} : { receipt: sourceAndNumber(textOf(receipt)) },
    }),
    intent: "This would reverse {<transaction-id>}.",
    done: "Reversed {<transaction-id>} by {id}.",
    unchanged: "{<transaction-id>} was reversed before, by {id}.",
  },
  "book cover": correction({
    description: "shillings were put back for a shortfall",
    rpc: "CoverShortfall",
    examples: ['--amount 20.00 --key cover-RKTQDM7W06 --org "Acme" --note "from the bank" --yes'],
  }),
  "book recover": correction({
    description: "an account pays for a shortfall",
    rpc: "RecoverShortfall",
    examples: [
      '--amount 10.00 --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --key recover-RKTQDM7W06 --org "Acme" --note "the user agrees" --yes',
    ],
    parameters: ["--account"],
  }),
  "book paid": correction({
    description: "shillings went out without an order: --account pays for them, or they are missing",
    rpc: "BookPayment",
    examples: [
      '--amount 30.00 --receipt RKTQDM7W06 --key paid-RKTQDM7W06 --org "Acme" --note "sent from the portal" --yes',
    ],
    parameters: [RECEIPT, "--account?"],
  }),
  "book adjust": correction({
    description: "more came in or went out than the book has of a movement: --account gets or pays it",
    rpc: "AdjustMovement",
    examples: [
      '--movement RKTQDM7W09 --direction out --amount 10.00 --key adjust-RKTQDM7W09 --org "Acme" --note "in the statement" --yes',
    ],
    parameters: ["--movement", "--direction", "--account?"],
  }),
  "book transfer": correction({
    description: "shillings moved between the rail and another place of yours, such as the bank",
    rpc: "ExplainTransfer",
    examples: [
      '--direction out --amount 500.00 --receipt RKTQDM7W08 --key transfer-RKTQDM7W08 --org "Acme" --note "to the bank" --yes',
    ],
    parameters: [RECEIPT, "--direction"],
  }),
  "book fund": correction({
    description: "shillings were put in for the charges of rails, or were taken out of what was paid ahead",
    rpc: "FundCharges",
    examples: [
      '--direction in --amount 500.00 --receipt RKTQDM7W13 --key fund-RKTQDM7W13 --org "Acme" --note "for the charges of November" --yes',
    ],
    parameters: [RECEIPT, "--direction"],
  }),
};

function correction({ parameters = [], ...row }: Omit<Written<OneRow>, "done">): Written<OneRow> {
  return {
    ...row,
    parameters: ["--org", "--amount", ...parameters, "--key", "--note"],
    intent: `This would book {--amount} KES: ${row.description}.`,
    done: (sums) => `Done. ${sumsWords(sums)}`,
    unchanged: (sums) => `Done before. ${sumsWords(sums)}`,
  };
}

function sumsWords(sums: MessageJson): string {
  return `The book: ${BOOK_ACCOUNTS.map((name) => `${name} ${textOf(sums[name])}`).join(", ")}.`;
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
  return `this would ${consequence ?? ""}.`;
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
