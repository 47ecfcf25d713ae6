import type { Diagnosed } from "../../storage/diagnosis/diagnosed.js";
import { ActsWithoutPersonCount, sumOf } from "../../storage/gauges/acts-without-person.js";
import { checkNamed, type DoctorFinding } from "./finding.js";

const { ok, warn } = checkNamed("acts");
/** An older act has been looked at. A warning that never ends would hide others. */
const RECENT_MILLIS = 30 * 24 * 3_600_000;

/** Says how often the machine has acted since the first operator: such a row names no person. */
export async function checkActs({ cells }: Pick<Diagnosed, "cells">, now: number): Promise<DoctorFinding> {
  const counts = [];
  for (const cell of cells) {
    const acts = new ActsWithoutPersonCount(cell, cells[0]);
    let counted;
    while (counted === undefined) counted = await acts.read();
    counts.push(counted);
  }
  const { count, newest } = sumOf(counts);
  if (newest === undefined) return ok("No change was made on the database since the first operator.");
  const { organizationId, recordedAt } = newest;
  const changes = count === 1 ? "1 change was" : `${String(count)} changes were`;
  const words =
    `${changes} made on the database since the first operator, without the name of a person. ` +
    `The newest was at ${new Date(recordedAt).toISOString()}.`;
  if (now - recordedAt > RECENT_MILLIS) return ok(words);
  const command = organizationId === undefined ? "kesc operator acts" : `kesc org journal ${organizationId} --own`;
  return warn(words, `Find out who made it and why: ${command}`);
}
