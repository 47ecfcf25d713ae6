import type { Diagnosed } from "../../storage/diagnosis/diagnosed.js";
import { restoredBooks } from "../../storage/diagnosis/facts.js";
import { unconfirmedRestore } from "../../storage/restores.js";
import { checkNamed, type DoctorFinding } from "./finding.js";

const { fail, ok, warn } = checkNamed("restore");

/** Says what a restore of the database still waits for. */
export async function checkRestore({ cells }: Pick<Diagnosed, "cells">): Promise<DoctorFinding> {
  const at = await unconfirmedRestore({ cells });
  if (at !== undefined) {
    return fail(
      `The database was restored at ${new Date(at).toISOString()}, and nobody has confirmed that. Servers refuse every key and every person.`,
      "See who would act again: kesc confirm-restore (docs/operations.md).",
    );
  }
  const counts = await Promise.all(cells.map(restoredBooks));
  const books = counts.reduce((sum, each) => sum + each, 0);
  if (books === 0) return ok("No restore waits for a person.");
  return warn(
    `${String(books)} of the books are RESTORED: no payment begins in them.`,
    "Compare each with its rails, and open it: kesc book activate ORG (docs/operations.md).",
  );
}
