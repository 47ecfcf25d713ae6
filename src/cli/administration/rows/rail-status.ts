import { railNamed } from "../../../rails/rails.js";
import { now } from "../../../startup/clock.js";
import { textOf } from "../../commands/output.js";
import { type MessageJson } from "../row.js";
import { ageWords } from "./age.js";

const SECOND_MILLIS = 1_000;

/** Returns the lines of `kesc rail status` about one account. */
export function statusBlock(status: MessageJson, organizationName: string): string {
  const account = status["account"] as MessageJson;
  const [rail, organizationId] = [textOf(account["rail"]), textOf(account["organization_id"])];
  const lines = Object.entries({
    usable: status["problem"] === null ? "yes" : `NO: ${textOf(status["problem"])}`,
    ...factsOf(rail, status["settings"]),
    "default rail": account["is_default"] === true ? "yes" : "no",
    payouts: payoutWords(account, status),
    "open payments": textOf(status["open_payments"]),
    "unknown payouts": unknownWords(status),
    credentials: credentialWords(account, status),
    balance: balanceWords(status),
    deposits: depositWords(status),
    ...statementWords(status),
    warnings: (status["warnings"] as readonly string[]).join(", ") || "none",
  });
  const width = Math.max(...lines.map(([name]) => name.length));
  return [
    `${rail} of ${organizationId} ("${organizationName}"), ${textOf(account["id"])}`,
    ...lines.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`),
    ...adviceOn(status["unknown_transaction_ids"] as readonly string[], organizationId),
  ].join("\n");
}

/** Empty for settings that nobody can use. */
function factsOf(rail: string, settings: unknown): Readonly<Record<string, string>> {
  const facts = typeof settings === "string" ? railNamed(rail)?.read(settings)?.facts : undefined;
  return Object.fromEntries(Object.entries(facts ?? {}).map(([name, value]) => [name.replaceAll("_", " "), value]));
}

function payoutWords(
  { rail, payouts, payouts_note: note }: MessageJson,
  { begins_payouts: begins, warnings }: MessageJson,
): string {
  const reason = note === null ? "" : ` (${textOf(note)})`;
  const isRefused = (warnings as readonly string[]).includes("CREDENTIALS_REFUSED");
  const because = isRefused
    ? `the rail has refused a credential. Set the right one: kesc rail set ${textOf(rail)} …`
    : "too many outcomes are unknown";
  const held = payouts !== "closed" && begins === false ? `: HELD, because ${because}` : "";
  return `${textOf(payouts)}${reason}${held}`;
}

function unknownWords({ unknown_payouts: count, oldest_unknown_at: oldest }: MessageJson): string {
  return oldest === null ? textOf(count) : `${textOf(count)}, the oldest begun ${agoWords(oldest)}`;
}

function credentialWords(
  { rail, credentials_expire_at: at }: MessageJson,
  { credentials_expire_soon: isSoon }: MessageJson,
): string {
  if (at === null) return "never expire";
  const words = `expire ${textOf(at)}`;
  if (isSoon !== true) return words;
  const when = Date.parse(textOf(at)) <= now() ? "EXPIRED" : "SOON";
  return `${words}: ${when}. Set a new password: kesc rail set ${textOf(rail)} …`;
}

function balanceWords({ balances }: MessageJson): string {
  const words = (balances as readonly MessageJson[]).map(
    ({ name, currency, available, age_seconds: age }) =>
      `${textOf(name)} ${textOf(currency)} ${textOf(available)} (${ageWords(Number(age))} ago)`,
  );
  return words.length === 0 ? "unknown" : words.join(", ");
}

function depositWords({ deposits_since: since, deposits_read_at: readAt }: MessageJson): string {
  if (since === null) return "not registered";
  return `since ${textOf(since)}, the list read ${readAt === null ? "never" : agoWords(readAt)}`;
}

/** Empty for a rail without statements. */
function statementWords({ statement_words: kinds }: MessageJson): Readonly<Record<string, string>> {
  const lines = (kinds as readonly MessageJson[]).map(({ kind, built_in: known, own }) => {
    const added = (own as readonly string[]).join(", ") || "none";
    const words = `${added}, beside ${String((known as readonly string[]).length)} built in (--json lists them)`;
    return [`words of ${textOf(kind).replace("_", " ")}`, words] as const;
  });
  return Object.fromEntries(lines);
}

function adviceOn(transactionIds: readonly string[], organizationId: string): readonly string[] {
  if (transactionIds.length === 0) return [];
  return [
    "  Payouts of unknown outcome:",
    ...transactionIds.map((id) => `    ${id}`),
    "  Ask the rail what became of them, and say it: " +
      `kesc transaction resolve txn_… --outcome completed|failed|moved … --org ${organizationId} --note TEXT --yes`,
  ];
}

function agoWords(time: unknown): string {
  return `${ageWords((now() - Date.parse(textOf(time))) / SECOND_MILLIS)} ago`;
}
