import type { Command } from "commander";

import { configFromEnvironment } from "../../startup/environment.js";
import { invocation } from "../../startup/invocation.js";
import { usingMasterKeyFile, withCurrentDatabase } from "../../startup/open-database.js";
import { UsageError } from "../../startup/operator-error.js";
import type { Database } from "../../storage/database.js";
import { addFirstMasterKey, pruneMasterKeys, unneededMasterKeys, wrapBooks } from "../../storage/master-keys.js";
import { printLine } from "./output.js";

/** `kesc master-key`: changes the keys that encrypt the keys of all books. */
export function addMasterKey(program: Command): void {
  const masterKey = program.command("master-key").description("the master keys, which encrypt the keys of all books");
  masterKey
    .command("rotate")
    .description("add a new master key, and encrypt the keys of all books with it; servers keep running")
    .option("--add-only", "only add the new key, so that you can copy the file to other machines first")
    .option("--wrap-only", "add no key: only encrypt the keys of all books with the first key of the file")
    .action(rotate);
  masterKey
    .command("prune")
    .description("remove the master keys that no book of this database needs")
    .option("--yes", "remove them; without this option the command only says what it would do")
    .action(prune);
}

async function rotate({ addOnly, wrapOnly }: { addOnly?: true; wrapOnly?: true }): Promise<void> {
  if (addOnly === true && wrapOnly === true) {
    throw new UsageError("--add-only and --wrap-only exclude each other. Give one of them, or none.");
  }
  await withMasterKeyFile(async (database, filename) => {
    // Completes an interrupted rotation. Fails before the file changes if the role lacks the right.
    if (addOnly !== true) await wrap(database);
    if (wrapOnly === true) return;
    // The new key is on disk before a book needs it.
    printLine(`Added the master key ${await addFirstMasterKey(database)} to ${filename}.`);
    if (addOnly === true) {
      printLine("Copy the file to all machines of this database. Then run: kesc master-key rotate --wrap-only");
      return;
    }
    try {
      await wrap(database);
    } catch (error) {
      invocation().stderr.write(
        `The new key is in ${filename}, and some books use an older one, which stays there. All of them open. ` +
          "To end the rotation: kesc master-key rotate --wrap-only\n",
      );
      throw error;
    }
    printLine("Keep a copy of the file apart from the backups. The older keys stay in it: older backups need them.");
  });
}

async function wrap(database: Database): Promise<void> {
  const { masterKeyId, books } = await wrapBooks(database);
  if (books > 0) printLine(`Encrypted the keys of ${String(books)} book(s) with the master key ${masterKeyId}.`);
}

async function prune({ yes }: { yes?: true }): Promise<void> {
  await withMasterKeyFile(async (database, filename) => {
    const unneeded = await unneededMasterKeys(database);
    if (unneeded.length === 0) {
      printLine(`Nothing to remove: books of this database need the keys of ${filename}, or will need the first.`);
      return;
    }
    if (yes !== true) {
      throw new UsageError(
        `This would remove the master keys ${unneeded.join(", ")} from ${filename}. Backups that were made before the ` +
          "rotation need them, and so does another database that shares the file. Nothing was done. " +
          "Keep a copy as long as you keep those backups. To remove the keys, add --yes.",
      );
    }
    const removed = await pruneMasterKeys(database);
    printLine(`Removed the master keys ${removed.join(", ")} from ${filename}.`);
    printLine("Backups that were made before the rotation can be read only with a copy of these keys.");
  });
}

function withMasterKeyFile(work: (database: Database, filename: string) => Promise<void>): Promise<void> {
  const { database: address } = configFromEnvironment();
  return usingMasterKeyFile(address, () =>
    withCurrentDatabase(address, (database) => work(database, address.masterKeyFile)),
  );
}
