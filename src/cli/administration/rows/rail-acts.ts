import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

import type { PayoutMode } from "../../../domain/rail-account.js";
import { RESERVE_KINDS } from "../../../domain/reserve.js";
import { parseRail } from "../../../domain/transaction.js";
import { formatCents } from "../../../domain/values/cents.js";
import { parseNairobiDay } from "../../../domain/values/nairobi-day.js";
import { parsePhoneNumber } from "../../../domain/values/phone-number.js";
import { UsageError } from "../../../startup/operator-error.js";
import { amountOrZero, day, durationMillis, nonEmptyName } from "../../commands/arguments.js";
import { timeOf } from "../../commands/output.js";
import { type CommandParameter, type MessageJson, type Row, type Run, textOf } from "../row.js";
import { argument, NOTE, ORGANIZATION, OWNER } from "./parameters.js";

const SECOND_MILLIS = 1_000;

const amount = (text: string): string => formatCents(amountOrZero(text));

const RAIL = {
  flags: "--rail <rail>",
  help: "name of the rail",
  field: "rail",
  required: true,
  parse: argument(parseRail),
} as const satisfies CommandParameter;

const PAYOUTS: readonly (readonly [command: string, payouts: PayoutMode, does: string, words: string])[] = [
  ["open", "open", "begin payouts, whatever is unknown about earlier ones", "begin, whatever is unknown"],
  [
    "close",
    "closed",
    "begin no payout; redemptions are accepted and wait",
    "do not begin. Redemptions are accepted and wait; those that were begun go on",
  ],
  [
    "auto",
    "auto",
    "begin payouts, unless too many outcomes are unknown",
    "begin, unless too many outcomes are unknown",
  ],
];

/** The commands of `kesc rail` that change accounts at rails. */
export const RAIL_ACT_ROWS: readonly Row[] = [
  {
    path: "rail set",
    description: "set an organization's account at a rail, in place of an earlier one",
    rpc: "SetRailAccount",
    parameters: [
      { ...RAIL, flags: "<rail>", help: "name of the rail, such as mpesa" },
      OWNER,
      { flags: "--default", help: "calls that name no rail use this one", field: "is_default" },
      { flags: "--settings <file>", help: "JSON file with everything but secrets, for a rail that has some" },
      { flags: "--credentials <file>", help: "JSON file with the secrets, which only its owner may read" },
      {
        flags: "--credentials-expire <day>",
        help: "day on which the secrets expire",
        field: "credentials_expire_at",
        parse: (text) => timeOf(day(text)),
      },
      {
        flags: "--begin-within <duration>",
        help: "a mint that is not begun in this time fails, such as 2m (default: as before, or 2m)",
        field: "begin_within_seconds",
        parse: (text) => Math.ceil(durationMillis(text) / SECOND_MILLIS),
      },
      {
        flags: "--confirm-above <amount>",
        help: "a success above it is booked only after a query; up to it, the path of a callback alone can book one (default: as before, or 0)",
        field: "confirm_above",
        parse: amount,
      },
      {
        flags: "--resolve-alone-max <amount>",
        help: "up to it one person resolves and corrects alone (default: as before, or 0)",
        field: "resolve_alone_max",
        parse: amount,
      },
      {
        flags: "--float-min <amount>",
        help: "warn when less is available for payouts; 0 for no warning (default: as before, or 0)",
        field: "float_min",
        parse: amount,
      },
      NOTE,
    ],
    request: async ({ given }) => ({ fields: await filesIn(given) }),
    shows: "rail_account",
    done: ({ is_default: isDefault }, run) =>
      [
        `Set the account of ${named(run)} at the rail ${railOf(run)}. Servers use it within two seconds.`,
        isDefault === true
          ? "It is the default rail: calls that name no rail use it."
          : `Calls must name it. To make it the default rail: kesc rail default ${railOf(run)} --org ORG --note TEXT`,
      ].join("\n"),
  },
  {
    path: "rail default",
    description: "set the rail of calls that name none; direct: their mints are credited at once",
    rpc: "SetDefaultRail",
    parameters: [{ ...RAIL, flags: "<rail>", help: 'name of the rail, or "direct"' }, OWNER, NOTE],
    shows: undefined,
    done: (_shown, run) =>
      `Calls of ${named(run)} that name no rail use ${railOf(run)}. Servers do so within two seconds.`,
    unchanged: (_shown, run) => `Calls of ${named(run)} that name no rail used ${railOf(run)} before.`,
  },
  {
    path: "rail register-deposits",
    description: "let payments without an order become deposits: registers at the rail, and requires receipts",
    rpc: "RegisterDeposits",
    parameters: [
      { ...RAIL, flags: "<rail>", help: "name of the rail, such as mpesa" },
      OWNER,
      {
        flags: "--contact <phone>",
        help: "phone number that the rail knows for the account",
        field: "contact_phone_number",
        required: true,
        parse: argument(parsePhoneNumber),
      },
      NOTE,
    ],
    shows: undefined,
    done: ({ deposits_since: since, kept_addresses: kept }, run) =>
      [
        `Payments to the account of ${named(run)} at the rail ${railOf(run)} are deposits since ${textOf(since)}.`,
        ...(kept === true ? ["The rail keeps addresses that it was given before. See docs/mpesa.md."] : []),
      ].join("\n"),
  },
  ...PAYOUTS.map(([command, payouts, description, words]): Row => ({
    path: `rail ${command}`,
    description,
    rpc: "SetPayouts",
    parameters: [OWNER, RAIL, NOTE],
    request: () => ({ fields: { payouts } }),
    shows: "rail_account",
    done: (_shown, run) => `Payouts of ${named(run)} over ${railOf(run)} ${words}.`,
    unchanged: (_shown, run) => `Payouts of ${named(run)} over ${railOf(run)} were ${payouts} before, with this note.`,
  })),
  {
    path: "reserve record",
    description: "record in the organization's book what lies in one place at the end of a day",
    rpc: "RecordReserve",
    parameters: [
      ORGANIZATION,
      {
        flags: "--place <name>",
        help: 'such as "KCB 1234": a new figure replaces the last one of the place',
        field: "place",
        required: true,
        parse: nonEmptyName,
      },
      {
        flags: "--amount <amount>",
        help: "shillings in the place, such as 1000.00, or 0",
        field: "amount",
        required: true,
        parse: amount,
      },
      {
        flags: "--as-of <day>",
        help: "the figure holds for the end of this day in Kenya, such as 2026-11-21",
        field: "as_of_day",
        required: true,
        parse: argument(parseNairobiDay),
      },
      {
        flags: "--evidence <text>",
        help: "what shows it, such as the number of a bank statement",
        field: "evidence",
        required: true,
        parse: nonEmptyName,
      },
      {
        flags: "--kind <kind>",
        help: `what it is: ${RESERVE_KINDS.join(", ")} (default: other)`,
        field: "kind",
      },
      {
        flags: "--document <file>",
        help: "the document that shows it: its SHA-256 is recorded, and not the document",
        field: "document_sha256",
        parse: sha256Of,
      },
      {
        flags: "--matures-on <day>",
        help: "the day in Kenya on which it is paid back, such as 2026-12-31",
        field: "matures_on",
        parse: argument(parseNairobiDay),
      },
      { ...NOTE, required: undefined },
    ],
    shows: "reserve_holding",
    done: "Recorded {amount} in {place} at the end of {as_of_day}, in row {sequence} of the book.",
    unchanged: "The figure of {place} at the end of {as_of_day} is {amount} already.",
  },
  {
    path: "reserve set-rules",
    description: "set the rules of an organization's reserve, in place of all earlier ones",
    rpc: "SetReserveRules",
    parameters: [
      ORGANIZATION,
      { flags: "--file <file>", help: "JSON file with a list of at most 10 rules; [] for none", required: true },
      NOTE,
    ],
    request: ({ given }) => ({ fields: { rules: rulesIn(textOf(given["file"])) } }),
    shows: undefined,
    done: ({ rules }, run) =>
      `Set ${String((rules as readonly unknown[]).length)} rules of the reserve of ${named(run)}. To see whether they hold: kesc supply --json`,
    unchanged: (_shown, run) => `The rules of ${named(run)} are so already.`,
  },
];

/** Reads a list of rules. The server checks each. */
function rulesIn(file: string): unknown {
  const rules = parseJson(readText(file).toString("utf8"));
  if (Array.isArray(rules)) return rules;
  throw new UsageError(`${file} must hold a JSON list of rules, such as examples/reserve/rules.json.`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function sha256Of(file: string): string {
  return hash("sha256", readText(file), "hex");
}

function readText(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read.`, { cause: error });
  }
}

function named({ referred }: Run): string {
  return `${referred?.id ?? ""} ("${referred?.name ?? ""}")`;
}

function railOf({ given }: Run): string {
  return textOf(given["rail"]);
}

/**
 * Reads the files of the account. The server checks the texts, too. The rails are loaded for this
 * command only: that takes 100 ms.
 */
async function filesIn({ rail: name, settings, credentials }: MessageJson): Promise<MessageJson> {
  const [{ readCredentialsFile, readSettingsFile }, { RAILS }] = await Promise.all([
    import("../../rail/account-files.js"),
    import("../../../rails/rails.js"),
  ]);
  const rail = RAILS.find((known) => known.name === name);
  if (rail === undefined) {
    throw new UsageError(
      `There is no rail ${textOf(name)}. There are: ${RAILS.map((known) => known.name).join(", ")}. ` +
        "To use no rail: kesc rail default direct --org ORG --note TEXT",
    );
  }
  return {
    ...(typeof settings === "string" ? { settings: readSettingsFile(rail, settings) } : {}),
    ...(typeof credentials === "string" ? { credentials: readCredentialsFile(rail, credentials) } : {}),
  };
}
