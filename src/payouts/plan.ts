import { inWords } from "../domain/change.js";
import type { DestinationKind } from "../domain/destination.js";
import type { HoldReason } from "../domain/payment.js";
import { payoutReference, type PayoutRow } from "../domain/payout-file.js";
import { amountText } from "../domain/values/cents.js";
import type { AccountId } from "../domain/values/ids.js";
import { nairobiDayOf } from "../domain/values/nairobi-day.js";
import { parsePhoneNumber, type PhoneNumber } from "../domain/values/phone-number.js";
import type { LeftOutRow, PayoutAccount, PayoutDestination, RecentPayout } from "./ports.js";
import type { ReadPayout } from "./read-payout-file.js";

/** What a person should know of a row. */
export interface Remark {
  readonly line: number;
  readonly text: string;
}

/** A row of a file that can be paid, as far as the file says. */
export interface PlannedRow {
  readonly row: PayoutRow;
  readonly kind: DestinationKind;
  /** The number that is paid. It leaves this process nowhere. */
  readonly number: string | undefined;
  readonly availableCents: number;
  /** Whether the rail calls the destination something else than its label does. */
  readonly hasOtherName?: boolean | undefined;
  /** Why a person must release the payout, as far as the row alone says. */
  readonly heldFor?: readonly HoldReason[];
}

interface Accounts {
  readonly ofId: ReadonlyMap<string, PayoutAccount>;
  readonly ofUser: ReadonlyMap<string, PayoutAccount>;
}

/** The accounts that a file names. */
export function accountsOf(found: readonly PayoutAccount[]): Accounts {
  return {
    ofId: new Map(found.map((account) => [account.id, account])),
    ofUser: new Map(found.flatMap((account) => (account.userId === undefined ? [] : [[account.userId, account]]))),
  };
}

/** Turns the rows of a file into those that can be paid, and those with an error. */
export class Plan {
  readonly planned: PlannedRow[] = [];
  readonly leftOut: LeftOutRow[] = [];
  readonly #sha256: string;
  readonly #lineOfReference = new Map<string, number>();

  constructor(sha256: string) {
    this.#sha256 = sha256;
  }

  /** Takes the rows in their order. */
  take(rows: readonly ReadPayout[], accounts: Accounts): void {
    for (const row of rows) {
      const planned = row.problems.length > 0 ? row.problems.join("; ") : this.#planned(row, accounts);
      if (typeof planned === "string") this.leftOut.push({ line: row.line, problem: planned });
      else this.planned.push(planned);
    }
  }

  #planned(read: ReadPayout, { ofId, ofUser }: Accounts): PlannedRow | string {
    const { line, amountCents, accountId, userId } = read;
    const account = accountId === undefined ? ofUser.get(userId ?? "") : ofId.get(accountId);
    if (account === undefined) {
      return accountId === undefined ? "user_id: no open account has it" : "account: there is no such account";
    }
    if (amountCents === undefined) return "amount: is required";
    const destination = read.destination === "" ? undefined : destinationOf(account, read.destination);
    if (destination === "unknown") return "destination: the account has no such destination";
    const reference = read.reference ?? payoutReference(this.#sha256, line);
    const other = this.#lineOfReference.get(reference);
    if (other !== undefined) return `reference: line ${String(other)} has it, too`;
    this.#lineOfReference.set(reference, line);
    const { description } = read;
    const row = { line, accountId: account.id, amountCents, reference, description, destinationId: destination?.id };
    const { kind, number, hasOtherName } = destination ?? { kind: "PHONE", number: account.phoneNumber };
    return { row, kind, number, hasOtherName, availableCents: account.availableCents };
  }
}

/** Finds a destination by its id, or by its number as people write it. */
function destinationOf({ destinations }: PayoutAccount, text: string): PayoutDestination | "unknown" {
  const phone = parsePhoneNumber(text);
  // The digits of a till can be those of a phone number, too.
  const names: readonly string[] = [text, text.replaceAll(/\s+/g, " "), ...(phone.ok ? [phone.value] : [])];
  return destinations.find(({ id, number }) => names.includes(id) || names.includes(number)) ?? "unknown";
}

/**
 * Returns the rows whose account has enough for them and for the rows before them, and leaves the
 * others out.
 */
export function withinBalances(planned: readonly PlannedRow[], leftOut: LeftOutRow[]): readonly PlannedRow[] {
  const spent = new Map<AccountId, number>();
  return planned.filter(({ row: { line, accountId, amountCents }, availableCents }) => {
    const before = spent.get(accountId) ?? 0;
    if (before + amountCents <= availableCents) {
      spent.set(accountId, before + amountCents);
      return true;
    }
    const left = amountText(Math.max(0, availableCents - before));
    const why = before === 0 ? "" : ", after the rows before";
    leftOut.push({ line, problem: `amount: the account has ${left} available${why}` });
    return false;
  });
}

interface WarningFacts {
  /** What was paid in the last days. */
  readonly recent: readonly RecentPayout[];
  /** Whether a number may be of another network. */
  readonly doubts: (number: PhoneNumber) => boolean;
}

/**
 * Returns the rows that are paid, but that a person should look at: another row, or a payout of the
 * last days, pays the same amount to the same number, the number may be of another network, the
 * rail calls the destination something else, or the payout will be held.
 */
export function warningsIn(planned: readonly PlannedRow[], { recent, doubts }: WarningFacts): readonly Remark[] {
  const paid = new Map(recent.map((each) => [keyOf(each.accountId, each.destinationId, each.amountCents), each]));
  const lines = new Map<string, number>();
  return planned.flatMap(({ row, kind, number, hasOtherName, heldFor = [] }): Remark[] => {
    const { line, accountId, destinationId, amountCents } = row;
    const own = keyOf(kind, number ?? accountId, amountCents);
    const other = lines.get(own);
    if (other === undefined) lines.set(own, line);
    const before = paid.get(keyOf(accountId, destinationId, amountCents));
    const texts = [
      ...(other === undefined ? [] : [`amount: line ${String(other)} pays the same to the same number`]),
      ...(before === undefined ? [] : [`amount: ${before.id} paid the same on ${nairobiDayOf(before.createdAt)}`]),
      ...(kind === "PHONE" && number !== undefined && doubts(number as PhoneNumber) ? [OTHER_NETWORK] : []),
      ...(hasOtherName === true ? [OTHER_NAME] : []),
      ...(heldFor.length === 0 ? [] : [`amount: a person must release it (${heldFor.map(inWords).join(", ")})`]),
    ];
    return texts.length === 0 ? [] : [{ line, text: texts.join("; ") }];
  });
}

// The preview is stored longer than the names.
const OTHER_NAME = "destination: the rail's name for it differs from its label";
const OTHER_NETWORK = "account: the phone number may be of another network";

function keyOf(...parts: readonly (string | number | undefined)[]): string {
  return JSON.stringify(parts);
}
