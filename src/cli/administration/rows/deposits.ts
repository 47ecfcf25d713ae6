import { DEPOSIT_REASONS } from "../../../domain/deposit.js";
import { textOf } from "../../commands/output.js";
import type { MessageJson, OneRow } from "../row.js";
import { lowerCaseList, someOf } from "./parameters.js";
import type { CommandRows, Written } from "./written.js";

/** `kesc deposit`: shillings that came in without an order, and what operators decide. */
export const DEPOSIT_ROWS: CommandRows = {
  "deposit list": {
    description: "list shillings that came in without an order, newest first",
    rpc: "ListDeposits",
    examples: ['--org "Acme" --status unallocated', '--org "Acme" --receipt RKTQDM7W10'],
    parameters: [
      "--org",
      "--status?",
      { of: "--reason?", help: someOf(DEPOSIT_REASONS), field: "reasons", parse: lowerCaseList },
      "--account?",
      "--receipt?",
      { flags: "--min-amount <amount>", help: "only deposits of this amount or more", field: "min_amount" },
      { flags: "--max-amount <amount>", help: "only deposits of this amount or less", field: "max_amount" },
    ],
    columns: {
      ID: "id",
      STATUS: "status",
      REASON: "reason",
      AMOUNT: "amount",
      RAIL: "rail",
      RECEIPT: receiptOf,
      FROM: "masked_payer_phone_number",
      TYPED: "typed_reference",
      ACCOUNT: "account_id",
      CREATED: "created_at",
    },
    none: "No deposit matches.",
    isLong: true,
  },
  "deposit show": {
    description: "show a deposit",
    rpc: "GetDeposit",
    examples: ['dep_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme"'],
    parameters: ["<deposit-id>", "--org"],
    onlyReads: true,
    done: (deposit) =>
      Object.entries(deposit)
        .map(([name, value]) => `  ${name}: ${textOf(value)}`)
        .join("\n"),
  },
  "deposit record": {
    description: "record shillings that came in where no rail reports them: --account gets them, or they wait",
    rpc: "RecordDeposit",
    examples: [`--amount 500.00 --receipt kcb-1234:FT26330XK2 --org "Acme" --note "in the bank's statement" --yes`],
    parameters: [
      "--org",
      "--amount",
      { of: "--receipt", help: "number that M-Pesa gave, or source:number, such as kcb-1234:FT26330XK2" },
      "--account?",
      "--note",
    ],
    intent: "This would book {--amount} KES that came in with the receipt {--receipt}.",
    done: stateWords,
    unchanged: (deposit) => `${stateWords(deposit)} It was recorded before.`,
  },
  "deposit assign": act("assign", {
    description: "credit a whole deposit to an account",
    rpc: "AssignDeposit",
    examples: [
      'dep_01jd2r6p5vf8ksw3xhb1z7q4ye --account acc_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "the user sent the SMS" --yes',
    ],
    parameters: ["--account"],
  }),
  "deposit unassign": act("unassign", {
    description: "take the credit of a deposit back: it waits again",
    rpc: "UnassignDeposit",
    examples: ['dep_01jd2r6p5vf8ksw3xhb1z7q4ye --org "Acme" --note "it was the other Wanjiku" --yes'],
  }),
  "deposit return": act("return", {
    description: "note that a deposit which waits went back to its payer; or let M-Pesa return it",
    rpc: "ReturnDeposit",
    examples: ['dep_01jd2r6p5vf8ksw3xhb1z7q4ye --receipt RKTQDM7W11 --org "Acme" --note "paid by mistake" --yes'],
    parameters: [{ of: "--receipt?", help: "that of the return, if you have paid it back" }, "--through-rail?"],
  }),
  "deposit reverse": act("reverse", {
    description: "note that the rail took a deposit back: the account that has it pays",
    rpc: "ReverseDeposit",
    examples: ['dep_01jd2r6p5vf8ksw3xhb1z7q4ye --receipt RKTQDM7W12 --org "Acme" --note "M-Pesa reversed it" --yes'],
    parameters: ["--receipt"],
  }),
};

function act(verb: string, { parameters = [], ...row }: Omit<Written<OneRow>, "done">): Written<OneRow> {
  return {
    ...row,
    parameters: ["<deposit-id>", "--org", ...parameters, "--note"],
    intent: `This would ${verb} {<deposit-id>}.`,
    done: stateWords,
    unchanged: (deposit) => `${stateWords(deposit)} It was so before.`,
  };
}

function stateWords({ id, status, amount, account_id: account, transaction_id: transaction }: MessageJson): string {
  const whose = account === null ? "" : `, of ${textOf(account)} by ${textOf(transaction)}`;
  return `${textOf(id)} is ${textOf(status)}: ${textOf(amount)} KES${whose}.`;
}

/** A deposit that was recorded by hand has a source and a number in place of the rail's receipt. */
function receiptOf({ rail_receipt: ofRail, receipt }: MessageJson): string {
  if (receipt === null || receipt === undefined) return textOf(ofRail);
  const { source, number } = receipt as MessageJson;
  return source === "mpesa" ? textOf(number) : `${textOf(source)}:${textOf(number)}`;
}
