import { inWords } from "../domain/change.js";
import { type BankAccount, bankAccountOf, type BankNumber, type DestinationKind } from "../domain/destination.js";
import { counted, type LimitsInForce, usageAt } from "../domain/limits/usage.js";
import { holdReasonsOf, refusalByLimits } from "../domain/movement.js";
import { HOLD_REASONS, type HoldReason, needsTwo } from "../domain/payment.js";
import { payoutReference, type PayoutRow } from "../domain/payout-file.js";
import type { Refusal } from "../domain/refusal.js";
import { amountText } from "../domain/values/cents.js";
import type { AccountId } from "../domain/values/ids.js";
import { nairobiDayOf } from "../domain/values/nairobi-day.js";
import { parsePhoneNumber, type PhoneNumber } from "../domain/values/phone-number.js";
import type { UnixMillis } from "../domain/values/time.js";
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
  readonly account: PayoutAccount;
  /** Whether the rail calls the destination something else than its label does. */
  readonly hasOtherName?: boolean | undefined;
  /** Why a person must release the payout. */
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
    if (destination === "several") return "destination: several accounts at banks are named so. Give the id";
    const reference = read.reference ?? payoutReference(this.#sha256, line);
    const other = this.#lineOfReference.get(reference);
    if (other !== undefined) return `reference: line ${String(other)} has it, too`;
    this.#lineOfReference.set(reference, line);
    const { description } = read;
    const row = { line, accountId: account.id, amountCents, reference, description, destinationId: destination?.id };
    const { kind, number, hasOtherName } = destination ?? { kind: "PHONE" as const, number: account.phoneNumber };
    return { row, kind, number, hasOtherName, account };
  }
}

/** Finds a destination by its id, or by its number as people write it. */
function destinationOf({ destinations }: PayoutAccount, text: string): PayoutDestination | "unknown" | "several" {
  const phone = parsePhoneNumber(text);
  // The digits of a till can be those of a phone number, too.
  const names: readonly string[] = [text, text.replaceAll(/\s+/g, " "), ...(phone.ok ? [phone.value] : [])];
  const named = destinations.find(({ id, number }) => names.includes(id) || names.includes(number));
  if (named !== undefined) return named;
  const written = plainAccount(text);
  const [found, another] = destinations.filter(
    ({ kind, number }) => kind === "BANK" && accountNames(bankAccountOf(number as BankNumber)).includes(written),
  );
  return found === undefined ? "unknown" : another === undefined ? found : "several";
}

/** How a file may name an account at a bank: by its number, and the codes before it. */
function accountNames({ bankCode, branchCode, account }: BankAccount): readonly string[] {
  return [account, bankCode + account, bankCode + branchCode + account].map(plainAccount);
}

/** A spreadsheet takes a number for one, and its first zeros away. */
function plainAccount(written: string): string {
  return written
    .replaceAll(/[\s/-]+/g, "")
    .replace(/^0+/, "")
    .toUpperCase();
}

interface MeansOptions {
  /** Undefined if the organization has no limits. */
  readonly limits: LimitsInForce | undefined;
  /** When the rows would be accepted. */
  readonly now: UnixMillis;
  readonly wordsOf: (refusal: Refusal) => string;
}

/**
 * Returns the rows for which balance and limits suffice once the rows before them are paid, each
 * with all reasons to hold it, and leaves the others out.
 */
export function withinMeans(
  planned: readonly PlannedRow[],
  leftOut: LeftOutRow[],
  { limits, now, wordsOf }: MeansOptions,
): readonly PlannedRow[] {
  const accounts = new Map<AccountId, PayoutAccount>();
  let inForce = limits;
  const book = { bookOf: () => ({ limits: inForce }) };
  return planned.flatMap((each): PlannedRow[] => {
    const { line, accountId, amountCents } = each.row;
    const account = accounts.get(accountId) ?? each.account;
    const why = account === each.account ? "" : ", after the rows before";
    const movement = { type: "REDEEM", amountCents } as const;
    const refusal = refusalByLimits(book, account, movement, now);
    if (amountCents > account.availableCents || refusal !== undefined) {
      const left = `the account has ${amountText(account.availableCents)} available`;
      const problem = refusal === undefined || amountCents > account.availableCents ? left : wordsOf(refusal);
      leftOut.push({ line, problem: `amount: ${problem.replace(/\.$/, "")}${why}` });
      return [];
    }
    const held: readonly HoldReason[] = holdReasonsOf(
      book,
      account,
      { amountCents, isFirst: false, isChanged: false },
      now,
    );
    accounts.set(accountId, {
      ...account,
      availableCents: account.availableCents - amountCents,
      usage: counted(usageAt(account.usage, now), movement),
    });
    inForce &&= { ...inForce, usage: counted(usageAt(inForce.usage, now), movement) };
    // The check is asked about each payout, and may let it go without a person.
    const heldFor = HOLD_REASONS.filter(
      (reason) => reason !== "CHECK" && (held.includes(reason) || each.heldFor?.includes(reason)),
    );
    return [{ ...each, heldFor }];
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
      ...(heldFor.length === 0 ? [] : [heldText(heldFor)]),
      ...(hasOtherName === true ? [OTHER_NAME] : []),
    ];
    return texts.length === 0 ? [] : [{ line, text: texts.join("; ") }];
  });
}

function heldText(heldFor: readonly HoldReason[]): string {
  const who = needsTwo(heldFor) ? "two persons" : "a person";
  return `amount: ${who} must release it (${heldFor.map(inWords).join(", ")})`;
}

// The preview is stored longer than the names.
const OTHER_NAME = "destination: the rail's name for it differs from its label";
const OTHER_NETWORK = "account: the phone number may be of another network";

function keyOf(...parts: readonly (string | number | undefined)[]): string {
  return JSON.stringify(parts);
}
