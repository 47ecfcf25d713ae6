import type { Command } from "commander";

import { now } from "../../startup/clock.js";
import { onDatabase } from "../../startup/open-database.js";
import { requireYes } from "../../startup/operator-error.js";
import { acceptClock, wakeWork } from "../../storage/books.js";
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
        const isPast = newest <= now();
        const said = `The newest row of ${nameOf(found)} is of ${timeOf(newest)}`;
        requireYes(
          yes,
          isPast
            ? `${said}, which is past. Work that a wrong clock has put off would be due at once.`
            : `${said}, and this clock says ${timeOf(now())}. If this clock is right, every new row gets the time of the ` +
                "newest one until that time has come, and limits of a day count it to that day. Work that waits is due " +
                "at once. If this clock is wrong, set it right instead.",
        );
        if (!isPast) await acceptClock(cell, found.organizationId);
        const woken = await wakeWork(cell, found, now());
        if (isPast) printLine(`${said}, which is past. ${woken === 0 ? "Nothing was done." : ""}`.trim());
        else
          printLine(
            `The book of ${nameOf(found)} goes on. Its rows have the time ${timeOf(newest)} until it has come.`,
          );
        if (woken > 0) printLine(`Work that was put off and is due at once: ${String(woken)}.`);
      });
    });
}
