import { HOLD_REASONS } from "../../../domain/payment.js";
import { CHECK_ANSWERS } from "../../../domain/payout-check.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import type { TransactionKind } from "./steps.js";

// Repeated on purpose: an audit must not depend on the code that it audits.
const CHECK = "CHECK";
const CHECK_HELD = "CHECK_HELD";
/** What no person ends alone. */
const OF_TWO: ReadonlySet<string> = new Set([CHECK, CHECK_HELD, "LISTED"]);
/** The author of what a check decides. */
const CHECKS = "checks";
const DENIED = "CHECK_DENIED";
const REFUSED = "REFUSED_BY_OPERATOR";
const ONE_PERSON = /^opr_[^,]*$/;
const CHECKED = new RegExp(
  `^(${CHECK_ANSWERS.join("|")}) (ALLOW|HOLD|DENY) ([A-Z][A-Z0-9_]{0,39}|-) ([0-9a-f]{64}|-)$`,
);

interface HoldCheckOptions {
  /** A sandbox needs no second person. */
  readonly isSandbox: boolean;
  readonly add: (seq: number, expected: string, found: string) => void;
}

/** What the row after `transaction.checked` must be. */
interface Expected {
  readonly seq: number;
  readonly kind: TransactionKind;
  readonly detail: string | null;
}

/**
 * Follows why a redemption waits before its rail is asked. The commit that accepts it holds it. An
 * answer of the check, or persons, let it go: no rail is asked before.
 */
export class HoldCheck {
  readonly #options: HoldCheckOptions;
  #held: string | null = null;
  #expected: Expected | undefined;

  constructor(options: HoldCheckOptions) {
    this.#options = options;
  }

  /** Why it waits, as the newest row says. Null if it does not. */
  get held(): string | null {
    return this.#held;
  }

  /** Takes each step. `isSecond`: the row before it, in the book too, accepted the transaction. */
  row(row: AuditedJournalRow, kind: TransactionKind, isSecond: boolean): void {
    const { seq, detail, actor } = row;
    const { add } = this.#options;
    const expected = this.#expected;
    this.#expected = undefined;
    if (expected !== undefined && !isAsExpected(expected, { seq, kind, detail })) add(seq, wordsOf(expected), kind);
    if (kind === "transaction.held") {
      const isKnown = wordsIn(detail).every((word) => (HOLD_REASONS as readonly string[]).includes(word));
      if (!isKnown) add(seq, `${kind} with its reasons`, `the detail ${String(detail)}`);
      if (!isSecond && expected === undefined)
        add(seq, `${kind} right after transaction.pending`, "another row before it");
    }
    if (kind === "transaction.checked") this.#checked(row);
    else if (actor === CHECKS && kind !== "transaction.held" && expected === undefined)
      add(seq, "transaction.checked right before a row of the check", kind);
    if (kind === "transaction.released" && this.#held === null) add(seq, `${kind} after transaction.held`, kind);
    if (kind === "transaction.processing" && this.#held !== null)
      add(seq, "transaction.released before the rail is asked", kind);
    if (kind === "transaction.failed" && detail === DENIED && expected === undefined)
      add(seq, "transaction.checked before a failure by the check", kind);
    this.#checkPersons(row, kind);
  }

  /** Follows the step, once it is checked. */
  follow({ detail }: AuditedJournalRow, kind: TransactionKind, isPending: boolean): void {
    if (kind === "transaction.held") this.#held = detail;
    if (kind === "transaction.released" || !isPending) this.#held = null;
  }

  /** `seq` is that of the last row. */
  end(seq: number): void {
    if (this.#expected !== undefined) this.#options.add(seq, wordsOf(this.#expected), "no row");
  }

  #checked({ seq, detail, actor }: AuditedJournalRow): void {
    const { add } = this.#options;
    const held = wordsIn(this.#held);
    const [, answer, result, code] = CHECKED.exec(detail ?? "") ?? [];
    const isFitting = answer === result || (answer === "NO_ANSWER" && result !== "DENY" && code === "-");
    if (result === undefined || !isFitting) add(seq, "an answer of a check", `the detail ${String(detail)}`);
    if (!held.includes(CHECK)) add(seq, "a redemption that waits for the check", held.join(","));
    if (actor !== CHECKS) add(seq, `${CHECKS} as the actor of transaction.checked`, actor);
    const left = held.flatMap((word) => (word !== CHECK ? [word] : result === "HOLD" ? [CHECK_HELD] : []));
    const next = { seq: seq + 1 };
    if (result === "DENY") this.#expected = { ...next, kind: "transaction.failed", detail: DENIED };
    else if (left.length > 0) this.#expected = { ...next, kind: "transaction.held", detail: left.join(",") };
    else this.#expected = { ...next, kind: "transaction.released", detail: null };
  }

  /** Two persons decide what a check or the list holds. `kesc` on the database may, too. */
  #checkPersons({ seq, actor, detail }: AuditedJournalRow, kind: TransactionKind): void {
    const decides = kind === "transaction.released" || (kind === "transaction.failed" && detail === REFUSED);
    const takesTwo = wordsIn(this.#held).some((word) => OF_TWO.has(word));
    if (decides && takesTwo && !this.#options.isSandbox && ONE_PERSON.test(actor))
      this.#options.add(seq, `${kind} by two persons`, actor);
  }
}

function wordsIn(detail: string | null): readonly string[] {
  return detail === null ? [] : detail.split(",");
}

function isAsExpected(expected: Expected, found: Expected): boolean {
  return expected.seq === found.seq && expected.kind === found.kind && expected.detail === found.detail;
}

function wordsOf({ kind, detail }: Expected): string {
  return `${kind}${detail === null ? "" : ` ${detail}`} right after transaction.checked`;
}
