import type { Command } from "commander";

import type { Account } from "../../domain/account.js";
import type { EraseAccount } from "../../domain/commands.js";
import type { Freeze } from "../../domain/freeze.js";
import type { Transaction } from "../../domain/transaction.js";
import { formatCents, toCents } from "../../domain/values/cents.js";
import { type AccountId, type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import { statusNoteOf } from "../../grpc/messages/transaction.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { failureFacts } from "../../startup/failure-facts.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import { exportAccount, type JournalExportRow } from "../../storage/account-export.js";
import type { Cell, Database, DatabaseAddress } from "../../storage/database.js";
import { NotVacuumedError, truncateLog, vacuumPersonalData } from "../../storage/erased-bytes.js";
import { byMachine } from "../../storage/organizations/commit-now.js";
import { reads } from "../../storage/reads.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";
import { statusReason } from "./arguments.js";
import { fieldLines, printLine, printLineInTurn, timeOf } from "./output.js";

const CHECKPOINT_MILLIS_MAX = 30_000;

/**
 * `kesc account`: exports and erases the personal data of an account's user, in the database.
 * Returns the command, which gets more subcommands.
 */
export function addAccount(program: Command): Command {
  const account = program.command("account").description("accounts, and the personal data of their users");
  account
    .command("export")
    .description("print everything that is stored about an account's user")
    .argument("<account-id>", 'id of the account ("acc_…")')
    .requiredOption("--org <organization>", "id or name of the organization")
    .option("--json", "print one JSON object on each line, for scripts")
    .action(exportOne);
  account
    .command("erase")
    .description("erase the personal data of an account's user for ever; the books stay")
    .argument("<account-id>", 'id of the account ("acc_…")')
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--reason <text>", "reason for the journal, without personal data", statusReason)
    .option("--yes", "erase; without this option the command only says what it would do")
    .option("--vacuum", "PostgreSQL: also write the table anew, so that its files lose the old bytes")
    .action(eraseOne);
  return account;
}

interface Found {
  readonly cell: Cell;
  readonly organizationId: OrganizationId;
  readonly accountId: AccountId;
}

async function find(database: Database, { org, account }: { org: string; account: string }): Promise<Found> {
  const accountId = parseAccountId(account);
  if (!accountId.ok) throw new OperatorError(`The id of the account ${accountId.problem}.`, WRONG_USAGE);
  const { organization, cell } = await findOwner(database, org);
  return { cell, organizationId: organization.id, accountId: accountId.value };
}

const WRONG_USAGE = 2;

function notFound({ organizationId, accountId }: Found): OperatorError {
  const words = messageOf({ reason: "ACCOUNT_NOT_FOUND", accountId });
  return new OperatorError(`${words} It is none of the accounts of ${organizationId}.`);
}

async function exportOne(account: string, { org, json }: { org: string; json?: true }): Promise<void> {
  const { database: address } = configFromEnvironment();
  const linesOf = json === true ? JSON.stringify : linesForPeople;
  const print = (record: ExportRecord): Promise<void> => printLineInTurn(linesOf(record));
  await withCurrentDatabase(
    address,
    async (database) => {
      const found = await find(database, { org, account });
      const exists = await exportAccount(found.cell, found, {
        account: (row) => print({ type: "account", account: accountJson(row) }),
        freeze: (row) => print({ type: "freeze", freeze: freezeJson(row) }),
        transaction: (row) => print({ type: "transaction", transaction: transactionJson(row) }),
        journalRow: (row) => print({ type: "journal", journal: journalJson(row, found) }),
      });
      if (!exists) throw notFound(found);
    },
    { statementMillisMax: 0 },
  );
}

type ExportRecord = Readonly<Record<string, unknown>> & { readonly type: string };

/** Returns the fields of a record, one on each line. */
function linesForPeople(record: ExportRecord): string {
  return [record.type, ...fieldLines(record[record.type] as Record<string, unknown>), ""].join("\n");
}

/** Returns a text as REST shows it: null if there is none. */
function textOf(text: string | undefined): string | null {
  return text === "" ? null : (text ?? null);
}

/** The names and formats are those of the REST API. Amounts are texts: no program rounds them. */
function accountJson(account: Account) {
  return {
    id: account.id,
    organization_id: account.organizationId,
    user_id: account.person?.userId ?? null,
    phone_number: account.person?.phoneNumber ?? null,
    email: textOf(account.person?.email),
    status: account.status.toLowerCase(),
    status_note: textOf(account.statusNote),
    available_balance: formatCents(account.availableCents),
    held_balance: formatCents(account.heldCents),
    created_at: timeOf(account.createdAt),
    updated_at: timeOf(account.updatedAt),
  };
}

function freezeJson({ lifted, ...freeze }: Freeze) {
  return {
    id: freeze.id,
    reason: freeze.reason.toLowerCase(),
    note: textOf(freeze.note),
    created_by: freeze.createdBy,
    created_at: timeOf(freeze.createdAt),
    lifted_by: lifted?.by ?? null,
    lifted_at: timeOf(lifted?.at),
    lift_note: textOf(lifted?.note),
  };
}

function transactionJson(transaction: Transaction) {
  const { availableAfterCents } = transaction;
  return {
    id: transaction.id,
    type: transaction.type.toLowerCase(),
    status: transaction.status.toLowerCase(),
    status_note: statusNoteOf(transaction) ?? null,
    amount: formatCents(transaction.amountCents),
    reference: transaction.reference,
    description: transaction.description === "" ? null : transaction.description,
    metadata: Object.fromEntries(transaction.metadata),
    rail: transaction.rail,
    rail_receipt: transaction.railReceipt ?? null,
    failure: transaction.failure ?? null,
    needs_attention: transaction.openFlags.length > 0,
    corrects_transaction_id: transaction.corrects?.transactionId ?? null,
    correction: transaction.corrects?.kind.toLowerCase() ?? null,
    reversed_by_transaction_id: transaction.reversedById ?? null,
    available_balance_after: availableAfterCents === undefined ? null : formatCents(availableAfterCents),
    created_at: timeOf(transaction.createdAt),
    updated_at: timeOf(transaction.updatedAt),
    completed_at: timeOf(transaction.completedAt),
  };
}

function journalJson(row: JournalExportRow, { accountId }: Found) {
  const decimal = (cents: number): string => formatCents(toCents(cents));
  return {
    sequence: row.seq,
    previous_sequence: row.previous_seq,
    recorded_at: timeOf(row.recorded_at),
    type: row.kind,
    account_id: accountId,
    transaction_id: row.transaction_id,
    freeze_id: row.freeze_id,
    debit_account: row.debit,
    credit_account: row.credit,
    amount: row.amount_cents === null ? null : decimal(row.amount_cents),
    available_balance: decimal(row.available_after_cents),
    held_balance: decimal(row.held_after_cents),
    actor: row.actor,
    note: textOf(row.reason),
    content_hash: row.content_hash.toString("hex"),
  };
}

interface EraseOptions {
  readonly org: string;
  readonly reason: StatusReason;
  readonly yes?: true;
  readonly vacuum?: true;
}

async function eraseOne(account: string, { org, reason, yes, vacuum }: EraseOptions): Promise<void> {
  const { database: address } = configFromEnvironment();
  if (vacuum === true && address.engine === "sqlite") {
    throw new OperatorError("--vacuum is for PostgreSQL. On SQLite the command always removes the old bytes.", 2);
  }
  const holders = await withCurrentDatabase(address, async (database) => {
    const found = await find(database, { org, account });
    if (yes !== true) throw new OperatorError(await intentOf(found), WRONG_USAGE);
    await erase(found, reason);
    return found.cell.engine;
  });
  if (address.engine === "sqlite") await removeFromLog(address.filename);
  else if (vacuum === true) await removeFromTable(address, holders);
  else {
    printLine(
      `The files of the table ${holders.table("account_holders")} still hold the old bytes. To write it anew, ` +
        "repeat the command with --vacuum; calls on accounts wait meanwhile.",
    );
  }
  printLine("Backups and archived logs still hold the data until they expire: docs/operations.md.");
}

/** Says what an erasure would do. Throws an OperatorError if the account does not exist. */
async function intentOf(found: Found): Promise<string> {
  const account = await reads(found.cell).account(found.organizationId, found.accountId);
  if (account === undefined) throw notFound(found);
  if (account.person === undefined) return `The personal data of ${account.id} is erased already. Nothing was done.`;
  return (
    `This would erase the user_id, the phone number and the e-mail address of ${account.id} for ever. ` +
    "The account, its transactions and its journal rows would stay. Nothing was done. To erase, add --yes."
  );
}

/** Commits the erasure. An account that is erased already is no error. */
async function erase(found: Found, reason: StatusReason): Promise<void> {
  const { cell, organizationId, accountId } = found;
  const command: EraseAccount = { name: "eraseAccount", accountId, note: reason, ...byMachine(organizationId) };
  const outcome = await commitAsOperator(cell, command);
  if (outcome.kind === "refused") {
    throw outcome.refusal.reason === "ACCOUNT_NOT_FOUND"
      ? notFound(found)
      : new OperatorError(messageOf(outcome.refusal));
  }
  printLine(
    outcome.replayed
      ? `The personal data of ${accountId} was erased before.`
      : `Erased the personal data of ${accountId}. The account and its books stay.`,
  );
}

async function removeFromLog(filename: string): Promise<void> {
  if (await truncateLog(filename, { retryMillisMax: CHECKPOINT_MILLIS_MAX })) {
    printLine(`The files of ${filename} no longer hold the old bytes.`);
    return;
  }
  throw new OperatorError(
    `The log ${filename}-wal still holds the old bytes, because another program reads the database. ` +
      "Wait until long reads such as kesc verify and backups have ended. Then repeat the command.",
  );
}

async function removeFromTable(
  address: DatabaseAddress & { engine: "postgres" },
  engine: Cell["engine"],
): Promise<void> {
  const holders = engine.table("account_holders");
  try {
    await vacuumPersonalData(address.url, engine);
    printLine(`The files of the table ${holders} no longer hold the old bytes.`);
  } catch (error) {
    const repeat = "The data is erased, but its old bytes are still in the files of the table";
    if (error instanceof NotVacuumedError) {
      throw new OperatorError(`${repeat} ${holders}: only its owner may vacuum it. Repeat the command as that role.`);
    }
    if (failureFacts(error).code === LOCK_NOT_AVAILABLE) {
      throw new OperatorError(
        `${repeat} ${holders}: another transaction holds a lock on it. ` +
          "Wait until long reads such as kesc verify and backups have ended. Then repeat the command.",
      );
    }
    throw error;
  }
}

const LOCK_NOT_AVAILABLE = "55P03";
