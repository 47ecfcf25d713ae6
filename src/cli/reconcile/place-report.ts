import type { OrganizationId } from "../../domain/values/ids.js";
import type { ComparedClosing } from "../../reconcile/banks/closing.js";
import { decimalOf } from "../../verify/format.js";

/** The place of a bank's statement, and its closing balance. */
export interface ComparedPlace {
  readonly name: string;
  /** The source of its receipts. */
  readonly source: string;
  /** The name of the file. */
  readonly file: string;
  /** The numbers of the statements in the file. Undefined for a table. */
  readonly statement: string | undefined;
  readonly account: string | undefined;
  /** Undefined if the file tells no closing balance. */
  readonly closing: ComparedClosing | undefined;
  /** The names of the places that have a figure. */
  readonly known: readonly string[];
}

/** Whether the book lacks the closing balance, or has another one. */
export function closingDiffers({ closing }: ComparedPlace): boolean {
  return closing !== undefined && closing.state !== "agrees" && closing.state !== "later";
}

/** Returns the closing balance for people, with the command that records it. */
export function placeLines(place: ComparedPlace, org: OrganizationId): string[] {
  const { name, source, closing, known } = place;
  const isNew = !known.includes(name);
  return [
    `${name}, receipts of ${source}${place.account === undefined ? "" : `, account ${place.account}`}:`,
    ...(closing === undefined
      ? ["  The file tells no closing balance, so none is compared."]
      : [`  closes with ${decimalOf(closing.balance.cents)} on ${closing.balance.day}: ${closingWords(closing)}`]),
    ...(closing === undefined || !closingDiffers(place) || closing.state === "overdrawn"
      ? []
      : [`    ${recordCommand(place, closing, org)}`]),
    ...(isNew
      ? [`  No figure of this place was recorded yet. Places with figures: ${known.join(", ") || "none"}.`]
      : []),
  ];
}

/** Returns the place for scripts. */
export function placeJson(place: ComparedPlace, org: OrganizationId): Readonly<Record<string, unknown>> {
  const { name, source, account, statement, closing } = place;
  return {
    name,
    source,
    account: account ?? null,
    statement: statement ?? null,
    closing:
      closing === undefined
        ? null
        : {
            state: closing.state,
            day: closing.balance.day,
            amount: decimalOf(closing.balance.cents),
            recorded: closing.figure === undefined ? null : decimalOf(closing.figure.amountCents),
            recorded_of_day: closing.figure?.asOfDay ?? null,
            advice: closingDiffers(place) && closing.state !== "overdrawn" ? recordCommand(place, closing, org) : null,
          },
  };
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

function recordCommand(place: ComparedPlace, { balance }: ComparedClosing, org: OrganizationId): string {
  const evidence = place.statement === undefined ? `statement of ${balance.day}` : `statement ${place.statement}`;
  return (
    `kesc reserve record ${org} --place ${quoted(place.name)} --amount ${decimalOf(balance.cents)} ` +
    `--as-of ${balance.day} --evidence ${quoted(evidence)} --document ${quoted(place.file)}`
  );
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
