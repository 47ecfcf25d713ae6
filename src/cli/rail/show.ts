import type { Organization } from "../../domain/api-key.js";
import { formatCents } from "../../domain/values/cents.js";
import type { RailBalance } from "../../rails/rail.js";
import { WrongRailAccountError } from "../../rails/rail-kind.js";
import { railNamed, RAILS } from "../../rails/rails.js";
import { UNKNOWN_PAYOUT_MILLIS_MAX, UNKNOWN_PAYOUTS_MAX, UNKNOWN_PAYOUTS_NAMED_MAX } from "../../settlement/limits.js";
import type { StoredPayment, UnknownPayouts } from "../../settlement/ports/payments.js";
import { now } from "../../startup/clock.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { openRail } from "../../startup/rails.js";
import { listBooks } from "../../storage/books.js";
import type { Cell, Database } from "../../storage/database.js";
import { keys } from "../../storage/keys.js";
import { openPaymentsOf, payments } from "../../storage/rails/payments.js";
import { expiresSoon } from "../../storage/rails/rail-account-directory.js";
import { type StoredRailAccount, storedRailAccounts } from "../../storage/rails/rail-accounts.js";
import { printJson, printLine, printTable, timeOf } from "../commands/output.js";
import { findOwner } from "../organizations.js";
import { accountJson } from "./account-json.js";

const MINUTE_MILLIS = 60_000;
const NONE = `No accounts at rails: all calls are direct. To set one: kesc rail set ${RAILS.map(({ name }) => name).join("|")} --org ORG`;

export async function listRails({ json }: { json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { accounts, names } = await withCurrentDatabase(address, async (database) => {
    const inCells = await Promise.all(database.cells.map(storedRailAccounts));
    const organizations = await keys(database, now).organizations();
    return { accounts: inCells.flat(), names: new Map(organizations.map(({ id, name }) => [id, name])) };
  });
  accounts.sort((left, right) => (left.id < right.id ? -1 : 1));
  if (json === true) printJson(accounts.map(accountJson));
  else if (accounts.length === 0) printLine(NONE);
  else {
    printTable([
      ["ORGANIZATION", "RAIL", "DEFAULT", "PAYOUTS", "CREDENTIALS EXPIRE", "NAME"],
      ...accounts.map((account) => [
        account.organizationId,
        account.rail,
        account.isDefault ? "yes" : "no",
        account.payouts,
        timeOf(account.credentialsExpireAt) ?? "never",
        names.get(account.organizationId) ?? "",
      ]),
    ]);
  }
}

/** What is known about one account. */
interface Status {
  readonly account: StoredRailAccount;
  readonly openPayments: number;
  readonly unknown: UnknownPayouts;
  /** Some of the payouts of unknown outcome. */
  readonly named: readonly StoredPayment[];
  /** Whether new payouts begin. */
  readonly beginsPayouts: boolean;
  /** Why no server can use the account. */
  readonly problem: string | undefined;
}

export async function showStatus({ org, json }: { org: string; json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const { organization, statuses, reserveCents } = await withCurrentDatabase(address, async (database) => {
    const found = await findOwner(database, org);
    const own = (await storedRailAccounts(found.cell)).filter(
      ({ organizationId }) => organizationId === found.organization.id,
    );
    return {
      organization: found.organization,
      statuses: await Promise.all(own.map((account) => statusOf(found.cell, account))),
      reserveCents: await reserveOf(database, found.organization),
    };
  });
  if (json === true) printJson(statuses.map((status) => statusJson(status, reserveCents)));
  else if (statuses.length === 0) printLine(NONE);
  else for (const status of statuses) printStatus(status, { organization, reserveCents });
}

async function statusOf(cell: Cell, account: StoredRailAccount): Promise<Status> {
  const stored = payments(cell);
  const unknown = await stored.unknownPayouts(account.id);
  const { count, oldestBegunAt } = unknown;
  const isHeld =
    count >= UNKNOWN_PAYOUTS_MAX || (oldestBegunAt !== undefined && now() - oldestBegunAt >= UNKNOWN_PAYOUT_MILLIS_MAX);
  return {
    account,
    openPayments: await openPaymentsOf(cell, account.id),
    unknown,
    named: await stored.listUnknownPayouts(account.id, UNKNOWN_PAYOUTS_NAMED_MAX),
    beginsPayouts: account.payouts === "open" || (account.payouts === "auto" && !isHeld),
    problem: await problemOf(cell, account),
  };
}

async function problemOf(cell: Cell, account: StoredRailAccount): Promise<string | undefined> {
  const { railHosts: hosts } = configFromEnvironment();
  try {
    // The servers know where rails call back. This command need not.
    await openRail(cell, account, { callbackUrl: () => "", hosts, now });
    return undefined;
  } catch (error) {
    if (error instanceof WrongRailAccountError) return error.problems.join(" ");
    throw error;
  }
}

async function reserveOf(database: Database, { id }: Organization): Promise<number> {
  return (await listBooks(database)).find(({ organizationId }) => organizationId === id)?.reserveCents ?? 0;
}

function statusJson(status: Status, reserveCents: number) {
  const { account, openPayments, unknown, named, beginsPayouts, problem } = status;
  return {
    ...accountJson(account),
    problem: problem ?? null,
    ...factsOf(account),
    credentials_expire_soon: expiresSoon(account, now()),
    open_payments: openPayments,
    unknown_payouts: unknown.count,
    oldest_unknown_at: timeOf(unknown.oldestBegunAt),
    unknown_transaction_ids: named.map(({ transactionId }) => transactionId),
    begins_payouts: beginsPayouts,
    balance: account.balance === undefined ? null : (JSON.parse(account.balance.json) as RailBalance),
    balance_at: timeOf(account.balance?.at),
    reserve: formatSigned(reserveCents),
  };
}

function printStatus(
  status: Status,
  { organization, reserveCents }: { readonly organization: Organization; readonly reserveCents: number },
): void {
  const { account, openPayments } = status;
  printLine(`${account.rail} of ${organization.id} ("${organization.name}"), ${account.id}`);
  printTable([
    ["  usable", status.problem === undefined ? "yes" : `NO: ${status.problem}`],
    ...Object.entries(factsOf(account)).map(([name, value]) => [`  ${name.replaceAll("_", " ")}`, value]),
    ["  default rail", account.isDefault ? "yes" : "no"],
    ["  payouts", payoutWords(status)],
    ["  open payments", String(openPayments)],
    ["  unknown payouts", unknownWords(status.unknown)],
    ["  credentials", credentialWords(account)],
    ["  balance", balanceWords(account)],
    ["  reserve of the book", formatSigned(reserveCents)],
  ]);
  if (status.named.length > 0) printUnknown(status.named, organization);
}

function printUnknown(named: readonly StoredPayment[], { id }: Organization): void {
  printLine("  Payouts of unknown outcome:");
  printTable(
    named.map(({ transactionId, amountCents, begunAt = now(), lastCode = "" }) => [
      `    ${transactionId}`,
      formatCents(amountCents),
      `begun ${ageWords(begunAt)}`,
      lastCode,
    ]),
  );
  printLine(
    "  Ask the rail what became of them, and say it: " +
      `kesc resolve txn_… --outcome completed|failed|moved … --org ${id} --person NAME --reason TEXT --yes`,
  );
}

/** Empty for settings that nobody can use. */
function factsOf({ rail, settings }: StoredRailAccount): Readonly<Record<string, string>> {
  return railNamed(rail)?.read(settings)?.facts ?? {};
}

function payoutWords({ account: { payouts, payoutsReason }, beginsPayouts }: Status): string {
  const reason = payoutsReason === "" ? "" : ` (${payoutsReason})`;
  const held = payouts === "auto" && !beginsPayouts ? ": HELD, because too many outcomes are unknown" : "";
  return `${payouts}${reason}${held}`;
}

function unknownWords({ count, oldestBegunAt }: UnknownPayouts): string {
  return oldestBegunAt === undefined ? String(count) : `${String(count)}, the oldest begun ${ageWords(oldestBegunAt)}`;
}

function credentialWords(account: StoredRailAccount): string {
  const expireAt = account.credentialsExpireAt;
  if (expireAt === undefined) return "never expire";
  const words = `expire ${timeOf(expireAt)}`;
  if (expireAt <= now()) return `${words}: EXPIRED. Set a new password: kesc rail set ${account.rail} …`;
  return expiresSoon(account, now()) ? `${words}: SOON. Set a new password: kesc rail set ${account.rail} …` : words;
}

function balanceWords({ balance }: StoredRailAccount): string {
  if (balance === undefined) return "unknown";
  const { accounts } = JSON.parse(balance.json) as RailBalance;
  const parts = accounts.map(
    ({ name, currency, availableCents }) => `${name} ${currency} ${formatSigned(availableCents)}`,
  );
  return `${parts.join(", ")} (${ageWords(balance.at)})`;
}

function ageWords(at: number): string {
  return `${String(Math.floor(Math.max(0, now() - at) / MINUTE_MILLIS))} minutes ago`;
}

/** The reserve may be negative. */
function formatSigned(cents: number): string {
  return `${cents < 0 ? "-" : ""}${formatCents(Math.abs(cents))}`;
}
