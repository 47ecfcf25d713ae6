import { type Authorized, type Commanded, WIDENS_ALONE } from "../authority.js";
import type { BookHead } from "../book.js";
import { type Change, changes } from "../change.js";
import { NOTHING_TOUCHES } from "../deciding-rows.js";
import {
  ALL_CELLS,
  type Book,
  type Decision,
  type Effect,
  type Lookup,
  type Operation,
  refuse,
  replay,
} from "../decision.js";
import type { DecidingRow } from "../journal.js";
import type { RailAccountId } from "../payment.js";
import { detailOfRailAccount, type PayoutMode, type RailAccountRecord } from "../rail-account.js";
import { type RailFinding, type WarningRow, withWarnings } from "../rail-warning.js";
import { bookEntryOf, withSecondPerson } from "../second-person.js";
import { DIRECT_RAIL, type Rail } from "../transaction.js";
import { amountText, type Cents } from "../values/cents.js";
import type { StatusReason } from "../values/text.js";
import type { UnixMillis } from "../values/time.js";

/** Sets an account at a rail, in place of an earlier one. Payouts stay as they are. */
export interface SetRailAccount extends Authorized {
  readonly name: "setRailAccount";
  /** The id of the earlier account, or a new one. */
  readonly railAccountId: RailAccountId;
  readonly rail: Rail;
  /** A JSON object without secrets. */
  readonly settings: string;
  /**
   * An HMAC of the credentials, whose encrypted form is `sealed`. Undefined if the rail needs none.
   */
  readonly credentialsHmac: string | undefined;
  readonly credentialsExpireAt: UnixMillis | undefined;
  readonly isDefault: boolean;
  readonly beginWithinMillis: number;
  readonly confirmAboveCents: Cents | 0;
  readonly resolveAloneMaxCents: Cents | 0;
  readonly floatMinCents: Cents | 0;
  readonly note: StatusReason;
  readonly facts: RailFacts;
}

/** Sets the rail of the calls that name none. */
export interface SetDefaultRail extends Authorized {
  readonly name: "setDefaultRail";
  readonly rail: Rail;
  readonly note: StatusReason;
}

/** Sets whether payouts of an account begin. */
export interface SetPayouts extends Authorized {
  readonly name: "setPayouts";
  readonly rail: Rail;
  readonly payouts: PayoutMode;
  readonly note: StatusReason;
  /** Why the settlement closes them: the code with which the rail refuses every payout. */
  readonly lockedCode?: string | undefined;
}

/** Raises and clears the warnings of an account at a rail, by what was seen of it. */
export interface WatchRailAccount extends Commanded, Omit<RailFinding, "lockedCode" | "isSet" | "isOpened"> {
  readonly name: "watchRailAccount";
  readonly rail: Rail;
  /** The account's revision under which the rail refused something, if it did. */
  readonly revision?: number | undefined;
}

/** What the command about an account at a rail needs to know of all accounts. It is no content. */
export interface RailFacts {
  /** The state of the accounts of all cells that was read, as `railAccountsOfCells` says it. */
  readonly accountsOfAll: string;
  /** Whether the account has other places at the rail than before. */
  readonly movesPlace: boolean;
}

/**
 * An account decides who gets the payouts, so no person sets one alone. In no policy does one
 * person raise the amount that one person may decide alone.
 */
export const setRailAccount = withSecondPerson<SetRailAccount, RailAccountRecord>(
  {
    lookup: ({ organizationId, railAccountId }, rows) => {
      rows.need("railAccounts", organizationId);
      rows.need("railAccountsOfCells", ALL_CELLS);
      rows.need("paymentsUnderWay", railAccountId);
    },
    decide: decideAccount,
  },
  {
    groupOf: (command, book) => {
      const before = accountAt(book, command)?.resolveAloneMaxCents ?? 0;
      return command.resolveAloneMaxCents > before ? WIDENS_ALONE : "rails";
    },
    changesOf: accountChanges,
    // The revision is shown, and counts each change.
    touchedBy: NOTHING_TOUCHES,
  },
);

export const setDefaultRail = withSecondPerson<SetDefaultRail, BookHead>(
  { lookup: needAccounts, decide: decideDefault },
  {
    groupOf: () => "rails",
    changesOf: ({ organizationId, rail }, book) => {
      const before = book.railAccounts(organizationId).find(({ isDefault }) => isDefault)?.rail ?? DIRECT_RAIL;
      return changes(["default rail", before, rail]);
    },
    touchedBy: {
      "rail.changed": (row, { organizationId }, book) => {
        const { rail, is_usual: wasDefault } = accountIn(row);
        return (
          (wasDefault === 1) !== book.railAccounts(organizationId).some((each) => each.rail === rail && each.isDefault)
        );
      },
    },
  },
);

/** To close payouts needs no second person: it only stops money, and must be quick. */
export const setPayouts = withSecondPerson<SetPayouts, RailAccountRecord>(
  { lookup: needAccounts, decide: decidePayouts } satisfies Operation<SetPayouts, RailAccountRecord>,
  {
    groupOf: ({ payouts }) => (payouts === "closed" ? undefined : "rails"),
    changesOf: (command, book) => {
      // The operation has refused an account that is not there.
      const { payouts, payoutsReason, revision } = accountAt(book, command) as RailAccountRecord;
      const before = `${payouts}${payoutsReason === "" ? "" : `: ${payoutsReason}`}`;
      return changes(
        ["rail", command.rail, command.rail],
        ["payouts", before, command.payouts],
        revisionChange(revision),
      );
    },
    // The revision is shown, as above.
    touchedBy: NOTHING_TOUCHES,
  },
);

export const watchRailAccount: Operation<WatchRailAccount, RailAccountRecord> = {
  lookup: needAccounts,
  decide: decideWarnings,
  inSuspension: "always",
};

/** Reads the detail that `detailOfRailAccount` made. */
function accountIn({ detail = "" }: DecidingRow): { readonly rail: Rail; readonly is_usual: 0 | 1 } {
  return JSON.parse(detail) as ReturnType<typeof accountIn>;
}

function accountAt(
  book: Book,
  { organizationId, rail }: Pick<SetPayouts, "organizationId" | "rail">,
): RailAccountRecord | undefined {
  return book.railAccounts(organizationId).find((account) => account.rail === rail);
}

/** The settings hold no secret. Of credentials, people see only that there are new ones. */
function accountChanges(command: SetRailAccount, book: Book): readonly Change[] {
  const { rail } = command;
  const before = accountAt(book, command);
  const [old, settings] = [before?.settings ?? "{}", command.settings].map(
    (text) => JSON.parse(text) as Readonly<Record<string, unknown>>,
  ) as [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  const keys = [...new Set([...Object.keys(old), ...Object.keys(settings)])];
  type Terms = Pick<SetRailAccount, keyof RailAccountRecord & keyof SetRailAccount>;
  const each = (what: string, text: (terms: Terms) => string | undefined) =>
    [what, before && text(before), text(command)] as const;
  return changes(
    ["rail", before && rail, rail],
    ...keys.map((key) => [key, textOf(old[key]), textOf(settings[key])] as const),
    ["credentials", before?.credentials && "kept encrypted", command.credentialsHmac && "new ones"],
    each("credentials end", ({ credentialsExpireAt: at }) => at && new Date(at).toISOString()),
    each("default rail", ({ isDefault }) => (isDefault ? "yes" : "no")),
    each("a mint begins within", ({ beginWithinMillis }) => `${String(beginWithinMillis / 1_000)} seconds`),
    each("confirmed by a query above", ({ confirmAboveCents }) => amountText(confirmAboveCents)),
    each("one person resolves up to", ({ resolveAloneMaxCents }) => amountText(resolveAloneMaxCents)),
    each("warning below", ({ floatMinCents }) => amountText(floatMinCents)),
    revisionChange(before?.revision),
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" || value === undefined ? value : JSON.stringify(value);
}

/** A change of the account in between may have left all else as it was: new credentials do. */
function revisionChange(revision: number | undefined): readonly [string, string | undefined, string] {
  return [
    "revision of the account",
    revision === undefined ? undefined : String(revision),
    String((revision ?? 0) + 1),
  ];
}

function needAccounts({ organizationId }: SetDefaultRail | SetPayouts | WatchRailAccount, rows: Lookup): void {
  rows.need("railAccounts", organizationId);
}

/**
 * Sets an account at a rail, in place of an earlier one. Payouts of a new account are `auto`; those
 * of an earlier one stay as they are.
 *
 * Refuses, in this order: RAIL_ACCOUNT_CHANGED (the accounts are no longer as the caller read
 * them), RAIL_PAYMENTS_UNDER_WAY.
 */
function decideAccount(book: Book, command: SetRailAccount, now: UnixMillis): Decision<RailAccountRecord> {
  const { organizationId, railAccountId: id, rail, settings, sealed, facts } = command;
  const accounts = book.railAccounts(organizationId);
  const earlier = accounts.find((account) => account.rail === rail);
  if (facts.accountsOfAll !== book.railAccountsOfCells() || (earlier !== undefined && earlier.id !== id)) {
    return refuse({ reason: "RAIL_ACCOUNT_CHANGED" });
  }
  const payments = book.paymentsUnderWay(id);
  // The new place would be asked about orders that only the old one knows.
  if (facts.movesPlace && payments > 0) return refuse({ reason: "RAIL_PAYMENTS_UNDER_WAY", rail, payments });

  const { credentialsExpireAt, isDefault, beginWithinMillis, confirmAboveCents, resolveAloneMaxCents, floatMinCents } =
    command;
  const before: RailAccountRecord = {
    id,
    organizationId,
    rail,
    settings,
    credentials: sealed,
    credentialsExpireAt,
    payouts: earlier?.payouts ?? "auto",
    payoutsReason: earlier?.payoutsReason ?? "",
    isDefault,
    beginWithinMillis,
    confirmAboveCents,
    resolveAloneMaxCents,
    floatMinCents,
    revision: earlier?.revision ?? 0,
    warnings: earlier?.warnings ?? {},
    createdAt: earlier?.createdAt ?? now,
    updatedAt: now,
  };
  const { account, rows: warnings } = withWarnings(changed(before, now), { isSet: true }, now);
  const former = isDefault ? accounts.filter((each) => each.isDefault && each.id !== id) : [];
  // An organization has one default account at most, so the old one changes first.
  const rows = [...former.map((each) => changed({ ...each, isDefault: false }, now)), account];
  return { kind: "effect", resource: account, effect: effectOf(rows, command, { warnings, now }) };
}

/**
 * Sets the rail of the organization's calls that name none. What is so already is a replay.
 *
 * Refuses: RAIL_ACCOUNT_NOT_FOUND. The direct rail needs no account.
 */
function decideDefault(book: Book, command: SetDefaultRail, now: UnixMillis): Decision<BookHead> {
  const { organizationId, rail } = command;
  const accounts = book.railAccounts(organizationId);
  if (rail !== DIRECT_RAIL && !accounts.some((account) => account.rail === rail)) {
    return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
  }
  const head = book.bookOf(organizationId);
  const isRight = (account: RailAccountRecord): boolean => account.isDefault === (account.rail === rail);
  // The old one first, as above.
  const others = accounts.filter((account) => !isRight(account)).sort((left) => (left.isDefault ? -1 : 1));
  if (others.length === 0) return replay(head);
  const rows = others.map((account) => changed({ ...account, isDefault: !account.isDefault }, now));
  const resource: BookHead = { ...head, lastSeq: head.lastSeq + rows.length, lastRecordedAt: now };
  return { kind: "effect", resource, effect: effectOf(rows, command, { now }) };
}

/**
 * Sets whether payouts of an account begin. What is so already, for the same reason, is a replay.
 *
 * Refuses: RAIL_ACCOUNT_NOT_FOUND.
 */
function decidePayouts(book: Book, command: SetPayouts, now: UnixMillis): Decision<RailAccountRecord> {
  const { rail, payouts, note, lockedCode } = command;
  const account = accountAt(book, command);
  if (account === undefined) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
  if (account.payouts === payouts && account.payoutsReason === note) return replay(account);
  const row = changed({ ...account, payouts, payoutsReason: note }, now);
  const { account: after, rows: warnings } = withWarnings(row, { lockedCode, isOpened: payouts !== "closed" }, now);
  return { kind: "effect", resource: after, effect: effectOf([after], command, { warnings, now }) };
}

/**
 * Raises and clears the warnings of an account. A finding that changes none of them is a replay.
 * What the rail refused before the account was changed says nothing about the account as it is.
 *
 * Refuses: RAIL_ACCOUNT_NOT_FOUND.
 */
function decideWarnings(book: Book, command: WatchRailAccount, now: UnixMillis): Decision<RailAccountRecord> {
  const { rail } = command;
  const earlier = accountAt(book, command);
  if (earlier === undefined) return refuse({ reason: "RAIL_ACCOUNT_NOT_FOUND", rail });
  const isOld = command.revision !== undefined && command.revision !== earlier.revision;
  const finding = isOld ? { ...command, refusedCredential: undefined, refusedRequest: undefined } : command;
  const { account, rows } = withWarnings(earlier, finding, now);
  if (rows.length === 0) return replay(account);
  const entries = rows.map((row) => bookEntryOf({ ...command, now }, row));
  return { kind: "effect", resource: account, effect: { entries, puts: [{ table: "railAccounts", row: account }] } };
}

/** Counts a change of the account. */
function changed(account: RailAccountRecord, now: UnixMillis): RailAccountRecord {
  return { ...account, revision: account.revision + 1, updatedAt: now };
}

/** Each account gets a journal row that says what it is now. Those about warnings follow. */
function effectOf(
  rows: readonly RailAccountRecord[],
  command: SetRailAccount | SetDefaultRail | SetPayouts,
  { warnings = [], now }: { readonly warnings?: readonly WarningRow[]; readonly now: UnixMillis },
): Effect {
  const by = { ...command, now };
  const changes = rows.map((row) =>
    bookEntryOf(by, { kind: "rail.changed", reason: command.note, detail: detailOfRailAccount(row) }),
  );
  return {
    entries: [...changes, ...warnings.map((warning) => bookEntryOf(by, warning))],
    puts: rows.map((row) => ({ table: "railAccounts", row })),
  };
}
