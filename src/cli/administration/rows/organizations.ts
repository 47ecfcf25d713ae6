import { parseOperatorId, parseTransactionId } from "../../../domain/values/ids.js";
import { nonEmptyName, wholeNumber } from "../../commands/arguments.js";
import { fieldLines } from "../../commands/output.js";
import { keyCreation } from "../../key-creation.js";
import { type MessageJson, type Row, textOf } from "../row.js";
import { ACCOUNT, argument, byWords, NOTE, ORGANIZATION } from "./parameters.js";

const CELL_NUMBER_MAX = 999;

/** `kesc org`. On the database two organizations may have one name: the id tells them apart. */
export const ORGANIZATION_ROWS: readonly Row[] = [
  {
    path: "org create",
    description: "create an organization",
    rpc: "CreateOrganization",
    parameters: [
      {
        flags: "--name <name>",
        help: "label of the organization",
        field: "name",
        required: true,
        parse: nonEmptyName,
      },
      {
        flags: "--cell <number>",
        help: "cell that keeps the organization (default: the one with the fewest)",
        field: "cell",
        parse: wholeNumber({ min: 0, max: CELL_NUMBER_MAX }),
      },
      { flags: "--sandbox", help: 'for tests: its keys begin with "kesc_test_"', field: "sandbox" },
    ],
    shows: "organization",
    done: ({ id, name, sandbox, cell }) =>
      [
        `Created ${sandbox === true ? "sandbox " : ""}organization ${textOf(id)} ("${textOf(name)}")` +
          `${cell === 0 ? "" : ` in cell ${textOf(cell)}`}.`,
        `A key for its programs: ${keyCreation(textOf(id))}`,
      ].join("\n"),
  },
  {
    path: "org list",
    description: "list the organizations",
    rpc: "ListOrganizations",
    items: "organizations",
    columns: { ID: "id", STATE: stateOf, CREATED: "created_at", CELL: "cell", NAME: "name" },
    // Without several cells, their numbers say nothing.
    leftOutIf: { CELL: "0" },
    style: (text, heading) => (heading === "STATE" && text.includes("suspended") ? "yellow" : undefined),
    none: "No organizations yet. Create one: kesc org create --name NAME",
  },
  {
    path: "org suspend",
    description: "refuse an organization's calls that write; its calls that read still work",
    rpc: "SuspendOrganization",
    parameters: [ORGANIZATION, NOTE],
    shows: "organization",
    intent:
      'This would refuse each call of {id} ("{name}") that writes, with ORGANIZATION_SUSPENDED. ' +
      "Calls that read would still work. Nothing was done. To suspend it, add --yes.",
    done: 'Suspended {id} ("{name}"). No server commits its calls any more.',
    unchanged: '{id} ("{name}") was suspended before.',
  },
  {
    path: "org resume",
    description: "end the suspension of an organization",
    rpc: "ResumeOrganization",
    parameters: [ORGANIZATION, NOTE],
    shows: "organization",
    done: 'Resumed {id} ("{name}"). Servers commit its calls again.',
    unchanged: '{id} ("{name}") is not suspended.',
  },
  {
    path: "org require-receipts",
    description: "refuse an organization's mints on direct that have no receipt",
    rpc: "RequireReceipts",
    parameters: [ORGANIZATION, { flags: "--end", help: "take mints without a receipt again" }, NOTE],
    request: ({ given }) => ({ fields: { required: given["end"] !== true } }),
    shows: "organization",
    done: ({ id, name, receipts_required: isRequired }) =>
      `A mint of ${textOf(id)} ("${textOf(name)}") on direct needs ${isRequired === true ? "a" : "no"} receipt now.`,
    unchanged: '{id} ("{name}") was so before.',
  },
  {
    path: "org journal",
    description: "list the rows of an organization's book, newest first",
    rpc: "ListJournal",
    parameters: [
      ORGANIZATION,
      { flags: "--own", help: "only what was done to the organization itself", field: "own" },
      { ...ACCOUNT, flags: "--account <account-id>", help: "only rows about this account" },
      {
        flags: "--transaction <transaction-id>",
        help: "only rows about this transaction",
        field: "transaction_id",
        parse: argument(parseTransactionId),
      },
      {
        flags: "--operator <operator-id>",
        help: "only what this operator did, proposed or approved",
        field: "operator_id",
        parse: argument(parseOperatorId),
      },
    ],
    items: "entries",
    columns: {
      SEQUENCE: ofLine("sequence"),
      RECORDED: ofLine("recorded_at"),
      TYPE: ofLine("type"),
      BY: (entry) => byWords({ ...entry, ...lineIn(entry) }),
      ACCOUNT: ofLine("account_id"),
      TRANSACTION: ofLine("transaction_id"),
      AMOUNT: ofLine("amount"),
      KEY: "api_key_id",
      NOTE: ofLine("note"),
    },
    // Most rows leave most of these empty.
    leftOutIf: { ACCOUNT: "", TRANSACTION: "", AMOUNT: "", KEY: "" },
    none: "No row matches.",
    isLong: true,
  },
  {
    path: "org find",
    description: "find what a text names: an id, a row, a phone number, an e-mail address, a receipt, a reference",
    rpc: "LookUp",
    parameters: [
      ORGANIZATION,
      { flags: "<text>", help: 'what to look up, such as RKTQDM7W01, 0712345678 or "#12345"', field: "text" },
    ],
    items: (response) => (response["matches"] as readonly MessageJson[]).map(matchIn),
    columns: { WHAT: "what", ID: "id", STATUS: "status", AMOUNT: "amount", CREATED: "created_at" },
    none: "Nothing has this text.",
  },
  {
    path: "org overview",
    description: "count what waits for a person in an organization, and show the sums of its book",
    rpc: "GetOverview",
    parameters: [ORGANIZATION],
    shows: undefined,
    onlyReads: true,
    done: (overview) => fieldLines(overview).join("\n"),
  },
  {
    path: "org attention",
    description: "list the transactions and deposits of an organization that wait for a person, each newest first",
    rpc: "ListNeedsAttention",
    parameters: [ORGANIZATION],
    items: ["transactions", "deposits"],
    columns: {
      ID: "id",
      TYPE: ({ type }) => textOf(type ?? "deposit"),
      STATUS: "status",
      REASON: "reason",
      AMOUNT: "amount",
      RAIL: "rail",
      CREATED: "created_at",
    },
    none: "Nothing waits for a person.",
    isLong: true,
  },
  {
    path: "org endpoints",
    description: "list the webhook endpoints of an organization, with their state and without their secrets",
    rpc: "ListWebhookEndpoints",
    parameters: [ORGANIZATION],
    items: "webhook_endpoints",
    columns: {
      ID: "id",
      STATUS: "status",
      "FAILING SINCE": "failing_since",
      "DELIVERED THROUGH": "delivered_through_sequence",
      URL: "url",
    },
    none: "No webhook endpoints.",
  },
];

function stateOf({ sandbox, suspended }: MessageJson): string {
  return `${sandbox === true ? "sandbox" : "live"}${suspended === true ? ", suspended" : ""}`;
}

function lineIn({ line }: MessageJson): MessageJson {
  return (line ?? {}) as MessageJson;
}

/** Returns the text of a field of the row in an entry of a journal. */
function ofLine(field: string): (entry: MessageJson) => string {
  return (entry) => textOf(lineIn(entry)[field]);
}

/** A match has one member, whose name says what it is. */
function matchIn(match: MessageJson): MessageJson {
  const [[what, found] = ["", {}]] = Object.entries(match).filter(([, value]) => value !== null);
  const { line, ...fields } = found as MessageJson;
  const { sequence, type, amount, recorded_at } = lineIn({ line });
  return line === undefined
    ? { what, ...fields }
    : { what: "row", id: sequence, status: type, amount, created_at: recorded_at };
}
