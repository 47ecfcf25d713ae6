import { DEPOSIT_REASONS, DEPOSIT_STATUSES } from "../../../domain/deposit.js";
import { parseReceiptText } from "../../../domain/receipt.js";
import { formatCents, parseAmount } from "../../../domain/values/cents.js";
import { parseAccountId, parseDepositId } from "../../../domain/values/ids.js";
import { type CommandParameter, type MessageJson, type Row, textOf } from "../row.js";
import { argument, idArgument, NOTE, OWNER } from "./parameters.js";

const DEPOSIT = {
  flags: "<deposit-id>",
  help: 'id of the deposit ("dep_…")',
  field: "deposit_id",
  parse: idArgument("deposit", parseDepositId, "To list the deposits: kesc deposit list --org ORG"),
} as const satisfies CommandParameter;

const ACCOUNT = {
  flags: "--account <account-id>",
  help: 'the account ("acc_…")',
  field: "account_id",
  parse: idArgument("account", parseAccountId, "To list the accounts: kesc account list"),
} as const satisfies CommandParameter;

const RECEIPT = {
  flags: "--receipt <receipt>",
  help: "number that the rail gave, or source:number",
  field: "receipt",
  required: true,
  parse: argument(parseReceiptText),
} as const satisfies CommandParameter;

const FILTERS: readonly CommandParameter[] = [
  listOption("status", "statuses", DEPOSIT_STATUSES),
  listOption("reason", "reasons", DEPOSIT_REASONS),
  ACCOUNT,
  { ...RECEIPT, required: undefined },
];

/** `kesc deposit`: shillings that came in without an order, and what operators decide. */
export const DEPOSIT_ROWS: readonly Row[] = [
  {
    path: "deposit list",
    description: "list shillings that came in without an order, newest first",
    rpc: "ListDeposits",
    parameters: [OWNER, ...FILTERS],
    items: "deposits",
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
  {
    path: "deposit show",
    description: "show a deposit",
    rpc: "GetDeposit",
    parameters: [DEPOSIT, OWNER],
    shows: "deposit",
    onlyReads: true,
    done: (deposit) =>
      Object.entries(deposit)
        .map(([name, value]) => `  ${name}: ${textOf(value)}`)
        .join("\n"),
  },
  {
    path: "deposit record",
    description: "record shillings that came in where no rail reports them: --account gets them, or they wait",
    rpc: "RecordDeposit",
    parameters: [
      OWNER,
      {
        flags: "--amount <amount>",
        help: "KES, such as 100.00",
        field: "amount",
        required: true,
        parse: (text) => formatCents(argument(parseAmount)(text)),
      },
      { ...RECEIPT, help: "number that M-Pesa gave, or source:number, such as kcb-1234:FT26330XK2" },
      ACCOUNT,
      NOTE,
    ],
    shows: "deposit",
    intent: (_shown, { given }) =>
      `This would book ${textOf(given["amount"])} KES that came in with the receipt ${textOf(given["receipt"])}. ` +
      "Nothing was done. To do it, add --yes.",
    done: stateWords,
    unchanged: (deposit) => `${stateWords(deposit)} It was recorded before.`,
  },
  act("assign", "AssignDeposit", "credit a whole deposit to an account", [{ ...ACCOUNT, required: true }]),
  act("unassign", "UnassignDeposit", "take the credit of a deposit back: it waits again", []),
  act("return", "ReturnDeposit", "note that a deposit which waits went back to its payer; or let M-Pesa return it", [
    { ...RECEIPT, required: undefined, help: "that of the return, if you have paid it back" },
    { flags: "--through-rail", help: "ask the rail to return it", field: "through_rail" },
  ]),
  act("reverse", "ReverseDeposit", "note that the rail took a deposit back: the account that has it pays", [RECEIPT]),
];

function act(command: string, rpc: string, description: string, parameters: readonly CommandParameter[]): Row {
  return {
    path: `deposit ${command}`,
    description,
    rpc,
    parameters: [DEPOSIT, OWNER, ...parameters, NOTE],
    shows: "deposit",
    intent: (_shown, { given }) =>
      `This would ${command} ${textOf(given["depositId"])}. Nothing was done. To do it, add --yes.`,
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

/** Makes an option with one value or several, with commas between them. */
function listOption(name: string, field: string, values: readonly string[]): CommandParameter {
  return {
    flags: `--${name} <${name}>`,
    help: `some of ${values.join(", ").toLowerCase()}`,
    field,
    parse: (text) => text.toLowerCase().split(","),
  };
}
