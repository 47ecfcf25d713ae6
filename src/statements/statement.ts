import type { Balances, BookAccount } from "../domain/journal.js";
import type { AccountId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import { type History, NO_BALANCES, positionOf, rowBefore } from "./as-of.js";
import type { BookLine } from "./ports.js";

/** A period that is over: from a time, inclusive, to a time, exclusive. */
export interface Period {
  readonly start: UnixMillis;
  readonly end: UnixMillis;
}

/** The rows of a book in a period: those after `afterSeq`, up to `toSeq`. */
export interface PeriodRows {
  readonly afterSeq: number;
  readonly toSeq: number;
}

export interface Footing {
  readonly inCents: number;
  readonly outCents: number;
  readonly balances: Balances;
}

/** A page or an export does not add up. It is a bug, or the database was changed. */
export class FootingError extends Error {
  constructor(what: string) {
    super(`a statement does not foot: ${what}`);
    this.name = "FootingError";
  }
}

export async function rowsOf(history: History, { start, end }: Period): Promise<PeriodRows> {
  const before = await positionOf(history, { before: start });
  const last = await positionOf(history, { before: end });
  return { afterSeq: before.seq, toSeq: last.seq };
}

export async function balancesAt(
  history: History,
  { accountId, seq }: { readonly accountId: AccountId; readonly seq: number },
): Promise<Balances> {
  return (await rowBefore(history, { accountId, upToSeq: seq })) ?? NO_BALANCES;
}

/** What a line brings into the account, and what it takes out. A hold does neither. */
export function movementOf({ debit, credit, amountCents }: BookLine): {
  readonly inCents: number;
  readonly outCents: number;
} {
  const [from, to] = [isOfAccount(debit), isOfAccount(credit)];
  const cents = amountCents ?? 0;
  return { inCents: to && !from ? cents : 0, outCents: from && !to ? cents : 0 };
}

function isOfAccount(name: BookAccount | undefined): boolean {
  return name === "available" || name === "held";
}

export function totalOf({ availableCents, heldCents }: Balances): number {
  return availableCents + heldCents;
}

/**
 * Adds a line to the sums so far. Throws a FootingError if the balances after the line are not
 * those before it plus its movement.
 */
export function footed(before: Footing, line: BookLine): Footing {
  const { inCents, outCents } = movementOf(line);
  const balances = line.balancesAfter ?? NO_BALANCES;
  const change = (name: BookAccount): number => {
    const cents = line.amountCents ?? 0;
    return (line.credit === name ? cents : 0) - (line.debit === name ? cents : 0);
  };
  const isRight =
    before.balances.availableCents + change("available") === balances.availableCents &&
    before.balances.heldCents + change("held") === balances.heldCents;
  if (!isRight) throw new FootingError(`the row with sequence ${String(line.seq)} has other balances`);
  return { inCents: before.inCents + inCents, outCents: before.outCents + outCents, balances };
}

/** Throws a FootingError if the sums do not lead from the opening to the closing balances. */
export function checkClosing({
  opening,
  closing,
  footing,
}: {
  opening: Balances;
  closing: Balances;
  footing: Footing;
}): void {
  const expected = totalOf(opening) + footing.inCents - footing.outCents;
  const { availableCents, heldCents } = footing.balances;
  if (expected === totalOf(closing) && availableCents === closing.availableCents && heldCents === closing.heldCents) {
    return;
  }
  throw new FootingError(`its lines lead to ${String(expected)} cents, and it closes with ${String(totalOf(closing))}`);
}
