import type { Command } from "commander";

import type { EraseAccount } from "../../domain/commands.js";
import { type AccountId, type OrganizationId, parseAccountId } from "../../domain/values/ids.js";
import type { StatusReason } from "../../domain/values/text.js";
import { messageOf } from "../../grpc/errors/status.js";
import { configFromEnvironment } from "../../startup/environment.js";
import { failureFacts } from "../../startup/failure-facts.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { Cell, Database, DatabaseAddress } from "../../storage/database.js";
import { NotVacuumedError, truncateLog, vacuumPersonalData } from "../../storage/erased-bytes.js";
import { byMachine } from "../../storage/organizations/commit-now.js";
import { reads } from "../../storage/reads.js";
import { commitAsOperator } from "../commit-as-operator.js";
import { findOwner } from "../organizations.js";
import { statusReason } from "./arguments.js";
import { printLine } from "./output.js";

const CHECKPOINT_MILLIS_MAX = 30_000;

/** Adds `kesc account erase`, which works in the database. */
export function addErase(account: Command): void {
  account
    .command("erase")
    .description("erase the personal data of an account's user for ever; the books stay")
    .argument("<account-id>", 'id of the account ("acc_…")')
    .requiredOption("--org <organization>", "id or name of the organization")
    .requiredOption("--reason <text>", "reason for the journal, without personal data", statusReason)
    .option("--yes", "erase; without this option the command only says what it would do")
    .option("--vacuum", "PostgreSQL: also write the table anew, so that its files lose the old bytes")
    .action(eraseOne);
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
