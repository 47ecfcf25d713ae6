import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { onDatabase } from "../../startup/open-database.js";
import { requireYes } from "../../startup/operator-error.js";
import { acceptClock } from "../../storage/books.js";
import { printLine, timeOf } from "../commands/output.js";
import { booksOf, nameOf, oneOf } from "./places.js";

/** `kesc book accept-clock`: lets a book go on whose newest row lies in the future. */
export function addAcceptClock(book: Command): void {
  book
    .command("accept-clock")
    .description("let a book go on whose newest row a wrong clock has written into the future")
    .argument("<organization>", "id or name of the organization")
    .option("--yes", "do it; without this option the command only says what it would do")
    .action(async (organization: string, { yes }: { readonly yes?: true }) => {
      await onDatabase(async (database) => {
        const { book: found, cell } = oneOf(await booksOf(database, organization), ({ state }) => state !== "MOVED");
        const newest = found.lastRecordedAt;
        if (newest <= now()) {
          printLine(`The newest row of ${nameOf(found)} is of ${timeOf(newest)}, which is past. Nothing was done.`);
          return;
        }
        requireYes(
          yes,
          `The newest row of ${nameOf(found)} is of ${timeOf(newest)}, and this clock says ${timeOf(now())}. If this clock ` +
            "is right, every new row gets the time of the newest one until that time has come, and limits of a day " +
            "count it to that day. If this clock is wrong, set it right instead.",
        );
        await acceptClock(cell, found.organizationId);
        printLine(`The book of ${nameOf(found)} goes on. Its rows have the time ${timeOf(newest)} until it has come.`);
      });
    });
}
