import { hash } from "node:crypto";
import { readFileSync } from "node:fs";

import { SCOPES } from "../../../domain/api-key.js";
import { DEPOSIT_STATUSES } from "../../../domain/deposit.js";
import { parseFingerprint, parseOperatorName, parsePasskeyId, parseRoles, ROLES } from "../../../domain/operator.js";
import { FLAG_REASONS } from "../../../domain/payment.js";
import { parseReceiptText } from "../../../domain/receipt.js";
import { RESERVE_KINDS } from "../../../domain/reserve.js";
import { parseRail } from "../../../domain/transaction.js";
import { formatCents, parseAmount } from "../../../domain/values/cents.js";
import {
  parseAccountId,
  parseApiKeyId,
  parseDepositId,
  parseFreezeId,
  parseOperatorId,
  parseProposalId,
  parseTransactionId,
  parseWebhookEndpointId,
} from "../../../domain/values/ids.js";
import { parseNairobiDay } from "../../../domain/values/nairobi-day.js";
import { type Parsed, parsed, unparsed } from "../../../domain/values/parsed.js";
import { parsePhoneNumber } from "../../../domain/values/phone-number.js";
import { parseIdempotencyKey, parseReference } from "../../../domain/values/text.js";
import { UsageError } from "../../../startup/operator-error.js";
import {
  amountOrZero,
  argument,
  certificateName,
  day,
  durationMillis,
  nonEmptyName,
  scopeList,
  sequenceNumber,
  statusReason,
  tierName,
  wholeNumber,
} from "../../commands/arguments.js";
import { timeOf } from "../../commands/output.js";
import { columnNames, DATES, referencePattern } from "../../commands/statement-form.js";
import type { CommandParameter } from "../row.js";

const CELL_NUMBER_MAX = 999;
const SECOND_MILLIS = 1_000;

const IN_OR_OUT = ["in", "out"] as const;
const OUTCOMES = ["completed", "failed", "moved"] as const;

const ORGANIZATION = {
  help: "id or name of the organization",
  field: "organization_id",
  refersTo: "organization",
} as const satisfies KnownParameter;

const accountId = idArgument("account", parseAccountId, "To list the accounts: kesc account list");

/** Parses an amount, which may be 0. Throws an error that Commander prints. */
export const zeroOrMore = (text: string): string => formatCents(amountOrZero(text));

/**
 * A parameter, which has the value for the field of its name: `as_of` for "--as-of". `field` names
 * another one. With null, only `request` of the row reads the value.
 */
export type KnownParameter = Omit<CommandParameter, "flags" | "required" | "field"> & {
  readonly field?: string | null;
};

/** All parameters, as the help shows them. A row can change the help, the field and the parser. */
export const PARAMETERS = {
  "<organization>": ORGANIZATION,
  "--org <organization>": ORGANIZATION,
  "--note <text>": { help: "words for the book, without personal data", parse: statusReason },
  "--reason <reason>": { help: "why", parse: lowerCase },
  "--amount <amount>": { help: "KES, such as 100.00", parse: (text) => formatCents(argument(parseAmount)(text)) },
  "--receipt <receipt>": { help: "number that the rail gave, or source:number", parse: argument(parseReceiptText) },

  // Organizations and their keys.
  "--name <name>": { help: "label of the organization", parse: nonEmptyName },
  "--cell <number>": {
    help: "cell that keeps the organization (default: the one with the fewest)",
    parse: wholeNumber({ min: 0, max: CELL_NUMBER_MAX }),
  },
  "--sandbox": { help: 'for tests: its keys begin with "kesc_test_"' },
  "--end": { help: "take mints without a receipt again", field: null },
  "--own": { help: "only what was done to the organization itself" },
  "--transaction <transaction-id>": {
    help: "only rows about this transaction",
    field: "transaction_id",
    parse: argument(parseTransactionId),
  },
  "--operator <operator-id>": {
    help: "only what this operator did, proposed or approved",
    field: "operator_id",
    parse: argument(parseOperatorId),
  },
  "<text>": { help: 'what to look up, such as RKTQDM7W01, 0712345678 or "#12345"' },
  "<key-id>": {
    help: 'id of the key ("key_…"), not its secret',
    field: "api_key_id",
    parse: idArgument("key", parseApiKeyId, "To list the keys: kesc key list --org ORG"),
  },
  "--certificate <name>": {
    help: "a client certificate in place of a secret: URI:… or DNS:…",
    field: null,
    parse: certificateName,
  },
  "--scopes <scopes>": { help: `what the key may do: some of ${SCOPES.join(",")}`, field: null, parse: scopeList },
  "--all-scopes": { help: "the key may do everything", field: null },
  "--expires-in <duration>": { help: "lifetime of the key, such as 90d or 12h", field: null, parse: durationMillis },
  "--never-expires": { help: "the key is valid until it is revoked", field: null },

  // Operators and their proposals.
  "<operator>": { help: "id or name of the operator", field: "operator_id", refersTo: "operator" },
  "<name>": { help: "name of the person, which no other had", parse: argument(parseOperatorName) },
  "--role <roles>": {
    help: `what the person may do: some of ${ROLES.join(",")}`,
    field: "roles",
    parse: argument((text) => parseRoles(text.split(",").map((word) => word.trim()))),
  },
  "--key-sha256 <fingerprint>": {
    help: 'fingerprint of the person\'s key, from "kesc operator new-key"',
    parse: argument(parseFingerprint),
  },
  "--type <type>": { help: "only the changes of this type, such as operator.created" },
  "--invite": { help: "print a link with which the person registers a passkey, and has no key", field: null },
  "<passkey-id>": { help: "id of the passkey", parse: argument(parsePasskeyId) },
  "<session-id>": { help: 'id of the session ("ses_…")' },
  "<proposal-id>": {
    help: 'id of the proposal ("prp_…")',
    parse: idArgument("proposal", parseProposalId, "To list the proposals: kesc proposal list"),
  },
  "--all": { help: "also those that were decided, or have lapsed: the newest first", field: "include_closed" },

  // Accounts.
  "<account-id>": { help: 'id of the account ("acc_…")', parse: accountId },
  "--account <account-id>": { help: 'the account ("acc_…")', field: "account_id", parse: accountId },
  "--phone-number <number>": { help: "the new phone number, such as 0712345678" },
  "--email <address>": { help: 'the new e-mail address; "" removes it' },
  "--freeze <freeze-id>": {
    help: 'id of the freeze ("frz_…")',
    field: "freeze_id",
    parse: idArgument("freeze", parseFreezeId, "To see them: kesc account get"),
  },
  "--tier <name>": { help: "a tier that has limits, or default", parse: tierName },

  // Rails.
  "<rail>": { help: "name of the rail, such as mpesa", parse: argument(parseRail) },
  "--rail <rail>": { help: "name of the rail", parse: argument(parseRail) },
  "--default": { help: "calls that name no rail use this one", field: "is_default" },
  "--settings <file>": { help: "JSON file with everything but secrets, for a rail that has some", field: null },
  "--credentials <file>": { help: "JSON file with the secrets, which only its owner may read", field: null },
  "--credentials-expire <day>": {
    help: "day on which the secrets expire",
    field: "credentials_expire_at",
    parse: (text) => timeOf(day(text)),
  },
  "--begin-within <duration>": {
    help: "a mint that is not begun in this time fails, such as 2m (default: as before, or 2m)",
    field: "begin_within_seconds",
    parse: (text) => Math.ceil(durationMillis(text) / SECOND_MILLIS),
  },
  "--confirm-above <amount>": {
    help: "a success above it is booked only after a query; up to it, the path of a callback alone can book one (default: as before, or 0)",
    parse: zeroOrMore,
  },
  "--resolve-alone-max <amount>": {
    help: "up to it one person resolves and corrects alone, and ten times that in a day (default: as before, or 0)",
    parse: zeroOrMore,
  },
  "--float-min <amount>": {
    help: "warn when less is available for payouts; 0 for no warning (default: as before, or 0)",
    parse: zeroOrMore,
  },
  "--contact <phone>": {
    help: "phone number that the rail knows for the account",
    field: "contact_phone_number",
    parse: argument(parsePhoneNumber),
  },

  // Webhooks.
  "<endpoint-id>": {
    help: 'id of the endpoint ("whe_…")',
    field: "webhook_endpoint_id",
    parse: idArgument("endpoint", parseWebhookEndpointId, "To list the endpoints: kesc org endpoints ORG"),
  },
  "--sequence <sequence>": { help: "the sequence of the event", parse: sequenceNumber },
  "--from <sequence>": { help: "the sequence of the first event", field: "start_sequence", parse: sequenceNumber },
  "--before <sequence>": {
    help: "the sequence after the last event (default: up to the newest)",
    field: "end_sequence",
    parse: sequenceNumber,
  },

  // The reserve.
  "--place <name>": {
    help: 'such as "KCB 1234": a new figure replaces the last one of the place',
    parse: nonEmptyName,
  },
  "--as-of <day>": {
    help: "the figure holds for the end of this day in Kenya, such as 2026-11-21",
    field: "as_of_day",
    parse: argument(parseNairobiDay),
  },
  "--evidence <text>": { help: "what shows it, such as the number of a bank statement", parse: nonEmptyName },
  "--kind <kind>": { help: `${choice("what it is", RESERVE_KINDS)} (default: that of the last figure, or other)` },
  "--document <file>": {
    help: "the document that shows it: its SHA-256 is recorded, and not the document",
    field: "document_sha256",
    parse: (file) => hash("sha256", readText(file), "hex"),
  },
  "--matures-on <day>": {
    help: "the day in Kenya on which it is paid back, such as 2026-12-31",
    parse: argument(parseNairobiDay),
  },
  "--source <source>": { help: 'the source of its receipts (default: of "KCB 1234" kcb-1234)', field: null },
  "--account-number <number>": { help: "the account, if a file has several", field: null },
  "--columns <list>": {
    help: 'how the bank calls the columns of its table, such as "date=Value Date,debit=Debit,credit=Credit"',
    field: null,
    parse: columnNames,
  },
  "--dates <order>": {
    help: choice("what stands first in 01/02/2026", DATES),
    field: null,
    parse: argument(oneOf(DATES)),
  },
  "--reference <pattern>": {
    help: "a regular expression for the bank's number, in the column reference or else in text",
    field: null,
    parse: referencePattern,
  },
  "--file <file>": { help: "JSON file with a list of at most 10 rules; [] for none", field: null },

  // Deposits, transactions, and corrections of books.
  "<deposit-id>": {
    help: 'id of the deposit ("dep_…")',
    parse: idArgument("deposit", parseDepositId, "To list the deposits: kesc deposit list --org ORG"),
  },
  "--status <status>": { help: someOf(DEPOSIT_STATUSES), field: "statuses", parse: lowerCaseList },
  "--through-rail": { help: "ask the rail to return it" },
  "<transaction-id>": {
    help: 'id of the transaction ("txn_…")',
    parse: idArgument("transaction", parseTransactionId, "To list the transactions: kesc transaction list"),
  },
  "--outcome <outcome>": { help: choice("what happened", OUTCOMES), field: null, parse: argument(oneOf(OUTCOMES)) },
  "--flag <flag>": { help: choice("the flag to clear", FLAG_REASONS), parse: lowerCase },
  "--movement <name>": { help: "receipt of the movement, or id of its transaction", parse: argument(parseReference) },
  "--direction <direction>": {
    help: choice("into the rail's account, or out of it", IN_OR_OUT),
    parse: argument(oneOf(IN_OR_OUT)),
  },
  "--key <key>": {
    help: "your name for this correction: the same key does it once, however often it is sent",
    field: null,
    isIdempotencyKey: true,
    parse: argument(parseIdempotencyKey),
  },
} as const satisfies Readonly<Record<string, KnownParameter>>;

/** Returns the help of a parameter that has one of these values. */
export function choice(what: string, values: readonly string[]): string {
  return `${what}: ${values.join(", ").toLowerCase()}`;
}

/** Returns the help of a parameter that has one of these values or several, with commas. */
export function someOf(values: readonly string[]): string {
  return `some of ${values.join(", ").toLowerCase()}`;
}

/** Reads a file. Throws an OperatorError if that fails. */
export function readText(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read.`, { cause: error });
  }
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}

export function lowerCaseList(text: string): readonly string[] {
  return text.toLowerCase().split(",");
}

function oneOf<Name extends string>(names: readonly Name[]) {
  return (text: string) => {
    const name = names.find((known) => known === text);
    return name === undefined ? unparsed(`must be one of ${names.join(", ")}`) : parsed(name);
  };
}

/** Makes a parser of an id. Its message does not repeat the argument, which may be a secret. */
function idArgument(what: string, parse: (text: string) => Parsed<string>, advice: string): (text: string) => string {
  return (text) => {
    const id = parse(text);
    if (!id.ok) throw new UsageError(`The id of the ${what} ${id.problem}. ${advice}`);
    return id.value;
  };
}
