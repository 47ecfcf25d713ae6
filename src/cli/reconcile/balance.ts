import { basename } from "node:path";

import { KIND_OF_NEW_PLACE } from "../../domain/reserve.js";
import { UsageError } from "../../startup/operator-error.js";
import type { MessageJson } from "../administration/row.js";
import type { AdminSession } from "../administration/session.js";
import { printJson, printLine, textOf } from "../commands/output.js";
import type { NightOptions } from "./night.js";

/** What a bank's statement says about its place, as ReconcileStatement returns it. */
export interface ToldClosing {
  readonly place: string;
  /** The numbers of the statements. Null for a table. */
  readonly statement: string | null;
  readonly document_sha256: string;
  readonly closing: {
    readonly amount: string;
    readonly day: string;
    readonly state: string;
    /** The figure of the day, or else the last one. Null if there is none. */
    readonly recorded: { readonly kind: string } | null;
  } | null;
}

interface AskedBalance extends Pick<NightOptions, "note" | "yes" | "json"> {
  readonly organizationId: string;
  /** The name of the file. */
  readonly file: string;
  /** What makes the file doubtful. Then its balance proves nothing. */
  readonly doubts: readonly string[];
}

const EVIDENCE_CHARACTERS_MAX = 256;

/**
 * Records the closing balance of a statement as the figure of its day, with the statement as
 * evidence. Without --yes shows what it would record, and throws a UsageError. Records nothing if
 * the day has a figure.
 */
export async function recordBalance(
  session: AdminSession,
  { place, statement, document_sha256, closing }: ToldClosing,
  { organizationId, file, doubts, note = "", yes, json }: AskedBalance,
): Promise<void> {
  if (closing === null) throw new UsageError("The file tells no closing balance, so nothing can be recorded.");
  const { amount, day, state, recorded } = closing;
  if (state === "agrees") {
    printLine(`The figure of ${place} at the end of ${day} is ${amount} already.`);
    return;
  }
  if (state !== "unrecorded") throw new UsageError(REFUSED[state] ?? `The closing balance is ${state}.`);
  const [doubt] = doubts;
  if (doubt !== undefined) throw new UsageError(`The file is doubtful, so its balance is not recorded. ${doubt}`);
  const evidence = evidenceOf({ statement, day, file });
  const words = `${amount} in ${place} at the end of ${day}, shown by ${evidence}`;
  if (yes !== true) {
    printLine(`This would record ${words}.`);
    throw new UsageError("Nothing was done. To do it, add --note TEXT --yes.");
  }
  const figure = {
    place,
    amount,
    as_of_day: day,
    evidence,
    document_sha256,
    kind: recorded?.kind ?? KIND_OF_NEW_PLACE,
  };
  const response = await session.call("RecordReserve", { organization_id: organizationId, ...figure, note });
  if (json === true) printJson(response);
  else printLine(outcomeOf(response, words));
}

const REFUSED: Readonly<Record<string, string>> = {
  differs: "The day has another figure. Which one is right, a person decides: kesc reserve record --help",
  later: "The place has a figure of a later day, so nothing is recorded by itself: kesc reserve record --help",
  overdrawn: "The account is overdrawn, and no figure is below zero. Ask the bank.",
};

function outcomeOf({ proposal }: MessageJson, words: string): string {
  if (proposal === null || proposal === undefined) return `Recorded ${words}.`;
  const id = textOf((proposal as MessageJson)["id"]);
  return (
    `Proposed as ${id}. It records ${words} once another person approves it.\n` +
    `That person runs: kesc proposal approve ${id}`
  );
}

/** Says what shows the balance: the number of the statement, and the file. */
export function evidenceOf({
  statement,
  day,
  file,
}: {
  readonly statement: string | null | undefined;
  readonly day: string;
  readonly file: string;
}): string {
  const text = `statement ${statement ?? `of ${day}`}, ${basename(file)}`;
  return Array.from(text).slice(0, EVIDENCE_CHARACTERS_MAX).join("").trim();
}
