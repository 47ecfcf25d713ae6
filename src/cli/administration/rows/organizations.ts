import { fieldLines, textOf } from "../../commands/output.js";
import { keyCreation } from "../../key-creation.js";
import { byWords, type MessageJson } from "../row.js";
import { changedWord } from "./each-organization.js";
import { lowerCaseList } from "./parameters.js";
import type { CommandRows } from "./written.js";

/** `kesc org`. On the database two organizations may have one name: the id tells them apart. */
export const ORGANIZATION_ROWS: CommandRows = {
  "org create": {
    description: "create an organization",
    rpc: "CreateOrganization",
    examples: ['--name "Acme"', '--name "Acme tests" --sandbox'],
    parameters: ["--name", "--cell?", "--sandbox?"],
    done: ({ id, name, sandbox, cell }) =>
      [
        `Created ${sandbox === true ? "sandbox " : ""}organization ${textOf(id)} ("${textOf(name)}")` +
          `${cell === 0 ? "" : ` in cell ${textOf(cell)}`}.`,
        `A key for its programs: ${keyCreation(textOf(id))}`,
      ].join("\n"),
  },
  "org list": {
    description: "list the organizations",
    rpc: "ListOrganizations",
    columns: { ID: "id", STATE: stateOf, CREATED: "created_at", CELL: "cell", NAME: "name" },
    // Without several cells, their numbers say nothing.
    leftOutIf: { CELL: "0" },
    style: (text, heading) => (heading === "STATE" && text.includes("suspended") ? "yellow" : undefined),
    none: "No organizations yet. Create one: kesc org create --name NAME",
  },
  "org suspend": {
    description: "refuse an organization's calls that write; its calls that read still work",
    rpc: "SuspendOrganization",
    examples: ['"Acme" --note "case 17" --yes'],
    parameters: ["<organization>", "--note"],
    intent:
      "This would refuse each call of {<organization>} that writes, with ORGANIZATION_SUSPENDED. " +
      "Calls that read would still work.",
    done: 'Suspended {id} ("{name}"). No server commits its calls any more.',
    unchanged: '{id} ("{name}") was suspended before.',
  },
  "org resume": {
    description: "end the suspension of an organization",
    rpc: "ResumeOrganization",
    examples: ['"Acme" --note "case 17 closed"'],
    parameters: ["<organization>", "--note"],
    done: 'Resumed {id} ("{name}"). Servers commit its calls again.',
    unchanged: '{id} ("{name}") is not suspended.',
  },
  "org require-receipts": {
    description: "refuse an organization's mints on direct that have no receipt",
    rpc: "RequireReceipts",
    examples: ['"Acme" --note "deposits begin"', '"Acme" --end --note "deposits have ended"'],
    parameters: ["<organization>", "--end?", "--note"],
    request: ({ given }) => ({ fields: { required: given["end"] !== true } }),
    done: ({ id, name, receipts_required: isRequired }) =>
      `A mint of ${textOf(id)} ("${textOf(name)}") on direct needs ${isRequired === true ? "a" : "no"} receipt now.`,
    unchanged: '{id} ("{name}") was so before.',
  },
  "org journal": {
    description: "list the rows of an organization's book, newest first",
    rpc: "ListJournal",
    examples: ['"Acme" --own', '"Acme" --types "deposit.*" --from 2026-11-01 --to 2026-11-30'],
    parameters: [
      "<organization>",
      "--own?",
      {
        flags: "--types <types>",
        help: "only rows of these types, with commas between them, such as transaction.completed or deposit.*",
        field: "types",
        parse: lowerCaseList,
      },
      { flags: "--from <day>", help: "first day in Kenya, such as 2026-11-01, or a time", field: "start" },
      { flags: "--to <day>", help: "last day in Kenya, such as 2026-11-30, or the time of the end", field: "end" },
      { of: "--account?", help: "only rows about this account" },
      "--transaction?",
      "--operator?",
    ],
    columns: {
      SEQUENCE: ofLine("sequence"),
      RECORDED: ofLine("recorded_at"),
      TYPE: ofLine("type"),
      BY: (entry) => byWords({ ...entry, ...lineIn(entry) }),
      ACCOUNT: ofLine("account_id"),
      TRANSACTION: ofLine("transaction_id"),
      AMOUNT: ofLine("amount"),
      STATED: ofLine("stated_amount"),
      PLACE: ofLine("place"),
      DETAIL: ofLine("detail"),
      KEY: "api_key_id",
      NOTE: ofLine("note"),
    },
    // Most rows leave most of these empty.
    leftOutIf: { ACCOUNT: "", TRANSACTION: "", AMOUNT: "", STATED: "", PLACE: "", DETAIL: "", KEY: "" },
    none: "No row matches.",
    isLong: true,
  },
  "org find": {
    description: "find what a text names: an id, a row, a phone number, an e-mail address, a receipt, a reference",
    rpc: "LookUp",
    examples: ['"Acme" 0712345678'],
    parameters: ["<organization>", "<text>"],
    items: (response) => (response["matches"] as readonly MessageJson[]).map(matchIn),
    columns: { WHAT: "what", ID: "id", STATUS: "status", AMOUNT: "amount", CREATED: "created_at" },
    none: "Nothing has this text.",
  },
  "org overview": {
    description: "count what waits for a person in an organization, and show the sums of its book",
    rpc: "GetOverview",
    examples: ['"Acme"'],
    parameters: ["<organization>"],
    onlyReads: true,
    done: (overview) => fieldLines(overview).join("\n"),
  },
  "org attention": {
    description: "list the transactions and deposits of an organization that wait for a person, each newest first",
    rpc: "ListNeedsAttention",
    examples: ['"Acme" --limit 20'],
    parameters: ["<organization>"],
    items: ["transactions", "deposits"],
    columns: {
      ID: "id",
      TYPE: ({ type }) => textOf(type ?? "deposit"),
      STATUS: "status",
      REASON: ({ reason, held_for: held }) =>
        Array.isArray(held) && held.length > 0 ? `held: ${held.join(", ")}` : textOf(reason ?? ""),
      AMOUNT: "amount",
      RAIL: "rail",
      CREATED: "created_at",
    },
    none: "Nothing waits for a person.",
    isLong: true,
  },
  "org endpoints": {
    description: "list the webhook endpoints of an organization, with their state and without their secrets",
    rpc: "ListWebhookEndpoints",
    examples: ['"Acme"'],
    parameters: ["<organization>"],
    columns: {
      ID: "id",
      STATUS: "status",
      "FAILING SINCE": "failing_since",
      "DELIVERED THROUGH": "delivered_through_sequence",
      URL: "url",
    },
    none: "No webhook endpoints.",
  },
};

function stateOf({ sandbox, suspended, changed }: MessageJson): string {
  const words = [
    sandbox === true ? "sandbox" : "live",
    suspended === true ? "suspended" : [],
    changedWord({ changed }),
  ];
  return words.flat().join(", ");
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
