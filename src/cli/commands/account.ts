import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { failureFacts } from "../../startup/failure-facts.js";
import { withCurrentDatabase } from "../../startup/open-database.js";
import { OperatorError } from "../../startup/operator-error.js";
import type { Cell, DatabaseAddress } from "../../storage/database.js";
import { NotVacuumedError, truncateLog, vacuumPersonalData } from "../../storage/erased-bytes.js";
import { printLine } from "./output.js";

const CHECKPOINT_MILLIS_MAX = 30_000;

/** Adds `kesc account vacuum`, which works where the database is. */
export function addVacuum(account: Command): void {
  account
    .command("vacuum")
    .description("remove the old bytes of erased personal data from the files of the database")
    .action(vacuum);
}

async function vacuum(): Promise<void> {
  const { database: address } = configFromEnvironment();
  if (address.engine === "sqlite") await removeFromLog(address.filename);
  else {
    const engines = await withCurrentDatabase(address, ({ cells }) =>
      Promise.resolve(cells.map(({ engine }) => engine)),
    );
    for (const engine of engines) await removeFromTable(address, engine);
  }
  printLine("Backups and archived logs still hold the data until they expire: docs/operations.md.");
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
    const repeat = "The old bytes are still in the files of the table";
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
