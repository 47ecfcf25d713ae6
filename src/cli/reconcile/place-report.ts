import { KIND_OF_NEW_PLACE } from "../../domain/reserve.js";
import type { OrganizationId } from "../../domain/values/ids.js";
import { forShell } from "../../domain/values/text.js";
import { closingDiffers, type ComparedClosing } from "../../reconcile/banks/closing.js";
import type { ComparedPlace } from "../../reconcile/banks/compare-place.js";
import { decimalOf } from "../../verify/format.js";
import { evidenceOf, type ToldClosing } from "./balance.js";

/** The place of a bank's statement, and its file. */
export interface PlaceOfReport extends ComparedPlace {
  /** The name of the file. */
  readonly file: string;
}

/** Returns the closing balance for people, with the command that records it. */
export function placeLines(place: PlaceOfReport, org: OrganizationId): string[] {
  const { place: name, source, closing, knownPlaces: known } = place;
  const isNew = !known.includes(name);
  return [
    `${name}, receipts of ${source}${place.account === undefined ? "" : `, account ${place.account}`}:`,
    ...(closing === undefined
      ? ["  The file tells no closing balance, so none is compared."]
      : [`  closes with ${decimalOf(closing.balance.cents)} on ${closing.balance.day}: ${closingWords(closing)}`]),
    ...(closing === undefined || !closingDiffers(closing) || closing.state === "overdrawn"
      ? []
      : [`    ${recordCommand(place, closing, org)}`]),
    ...(isNew
      ? [`  No figure of this place was recorded yet. Places with figures: ${known.join(", ") || "none"}.`]
      : []),
  ];
}

/** Returns the place for scripts. */
export function placeJson(place: PlaceOfReport, org: OrganizationId): Readonly<Record<string, unknown>> {
  const { place: name, source, account, statement, sha256, closing } = place;
  return {
    name,
    source,
    account: account ?? null,
    statement: statement ?? null,
    document_sha256: sha256,
    closing:
      closing === undefined
        ? null
        : {
            state: closing.state,
            day: closing.balance.day,
            amount: decimalOf(closing.balance.cents),
            recorded: closing.figure === undefined ? null : decimalOf(closing.figure.amountCents),
            recorded_of_day: closing.figure?.asOfDay ?? null,
            advice:
              closingDiffers(closing) && closing.state !== "overdrawn" ? recordCommand(place, closing, org) : null,
          },
  };
}

/** Returns what ReconcileStatement would return of the closing balance. */
export function toldClosing({ place, statement, sha256, closing }: PlaceOfReport): ToldClosing {
  const told = closing && {
    amount: decimalOf(closing.balance.cents),
    day: closing.balance.day,
    state: closing.state,
    recorded: closing.figure ?? null,
  };
  return { place, statement: statement ?? null, document_sha256: sha256, closing: told ?? null };
}

function closingWords({ state, figure }: ComparedClosing): string {
  const recorded = figure === undefined ? "nothing" : `${decimalOf(figure.amountCents)} on ${figure.asOfDay}`;
  switch (state) {
    case "agrees":
      return "recorded so.";
    case "differs":
    case "unrecorded":
      return `recorded was ${recorded}. If the statement is right:`;
    case "later":
      return `not compared, since the last figure is of a later day, ${recorded}.`;
    case "overdrawn":
      return "the account is overdrawn, and no figure is below zero. Ask the bank.";
  }
}

function recordCommand(place: PlaceOfReport, { balance, figure }: ComparedClosing, org: OrganizationId): string {
  const { statement, file } = place;
  const evidence = evidenceOf({ statement, day: balance.day, file });
  return (
    `kesc reserve record ${org} --place ${forShell(place.place)} --amount ${decimalOf(balance.cents)} ` +
    `--as-of ${balance.day} --evidence ${forShell(evidence)} --document ${forShell(place.file)} ` +
    `--kind ${figure?.kind ?? KIND_OF_NEW_PLACE}`
  );
}
