import { decimalOf } from "../../format.js";
import { guarded, jsonIn } from "../../guarded.js";
import type { AuditedBook } from "../book.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import type { AuditPart } from "../part.js";
import type { AuditedTransactionRow } from "../transactions/transaction-check.js";
import { authorOf } from "./authors.js";

// Repeated on purpose: an audit must not depend on the code that it audits.
const CORRECTIONS: ReadonlySet<string> = new Set([
  "book.covered",
  "book.recovered",
  "book.allocated",
  "book.returned",
  "book.received",
  "book.paid",
  "book.adjusted",
  "book.transferred",
  "book.funded",
]);
const ENDS: ReadonlySet<string> = new Set(["transaction.completed", "transaction.failed", "transaction.canceled"]);
const ALONE_IN_A_DAY = 10;
const NAIROBI_OFFSET_MILLIS = 10_800_000;
const DAY_MILLIS = 86_400_000;

/** What a row says of an act that its amount judges, and that one person did alone. */
interface AloneAct {
  readonly row: AuditedJournalRow;
  readonly person: string;
  readonly amountCents: number;
  readonly maxCents: number;
  /** The transaction or deposit that the row is about. The next row may continue the act. */
  readonly about: string | undefined;
}

/**
 * Derives the amount of each act that one person did alone, and the sum of the person's day in
 * Nairobi. Both must be within what the accounts at rails allowed at that moment. The row of the
 * act must have the same sum.
 */
export class AloneAudit implements AuditPart {
  readonly table = "journal";
  readonly #book: AuditedBook;
  /** The transactions by the `seq` of their first row, until that row comes. */
  readonly #begun = new Map<number, AuditedTransactionRow>();
  readonly #open = new Map<string, Pick<AuditedTransactionRow, "amount_cents" | "rail">>();
  /** The amounts of the deposits that belong to no account. */
  readonly #waiting = new Map<string, number>();
  /** The highest amount of each account at a rail, by the rail. */
  readonly #maxima = new Map<string, number>();
  readonly #sums = new Map<string, { readonly day: number; readonly cents: number }>();
  #last: AloneAct | undefined;

  constructor(book: AuditedBook) {
    this.#book = book;
  }

  /** Takes a transaction, before the slice with its first row. */
  transaction(summary: AuditedTransactionRow): void {
    this.#begun.set(summary.seq, summary);
  }

  slice(rows: readonly AuditedJournalRow[]): void {
    for (const row of rows) {
      guarded(this.#book.findings, { seq: row.seq, table: "journal", id: undefined }, () => {
        this.#take(row);
      });
    }
  }

  end(): void {
    this.#count();
  }

  #take(row: AuditedJournalRow): void {
    const begun = this.#begun.get(row.seq);
    this.#begun.delete(row.seq);
    const last = this.#last;
    if (last !== undefined && row.alone_by === null && isNext(last, row, begun)) {
      this.#last = { ...last, amountCents: Math.max(last.amountCents, begun?.amount_cents ?? 0) };
    } else {
      this.#count();
      this.#last = this.#actOf(row, begun);
      const found = row.alone_by ?? row.alone_cents;
      if (this.#last === undefined && found !== null)
        this.#book.findings.onRow(row, "no sum of a person on a row that counts for nobody", String(found));
    }
    this.#follow(row, begun);
  }

  #actOf(row: AuditedJournalRow, begun: AuditedTransactionRow | undefined): AloneAct | undefined {
    const { kind, actor, detail } = row;
    if (CORRECTIONS.has(kind)) {
      const [, person, content] = jsonIn("detail", detail, "[]") as readonly string[];
      const { amountCents } = jsonIn("detail", content ?? null, "{}") as { readonly amountCents?: number };
      const amount = row.amount_cents ?? amountCents ?? 0;
      return actor.includes(",") ? undefined : this.#act(row, person ?? "", amount, this.#lowest());
    }
    const isByOne = authorOf(actor) === "operators" && !actor.includes(",");
    if (kind.startsWith("deposit.")) {
      const id = depositIn(row);
      const amount = row.amount_cents ?? this.#waiting.get(id) ?? 0;
      const maxCents = kind === "deposit.received" ? this.#lowest() : Math.max(0, ...this.#maxima.values());
      return isByOne ? { ...this.#act(row, actor, amount, maxCents), about: id } : undefined;
    }
    if (begun !== undefined) {
      const isJudged = kind === "transaction.completed" && isByOne && begun.correction !== "LATE";
      const maxCents = begun.deposit_id === null ? this.#lowest() : this.#maxOf(begun.rail);
      return isJudged ? this.#act(row, actor, begun.amount_cents, maxCents) : undefined;
    }
    const open = this.#open.get(row.transaction_id ?? "");
    const [, person, another] = open !== undefined && ENDS.has(kind) ? personsIn(detail) : [];
    if (open === undefined || person === undefined || another !== undefined) return undefined;
    const about = row.transaction_id ?? undefined;
    return { ...this.#act(row, person, open.amount_cents, this.#maxima.get(open.rail) ?? 0), about };
  }

  #act(row: AuditedJournalRow, person: string, amountCents: number, maxCents: number): AloneAct {
    return { row, person: person.normalize("NFKC").toLowerCase(), amountCents, maxCents, about: undefined };
  }

  #lowest(): number {
    return this.#maxima.size === 0 ? 0 : Math.min(...this.#maxima.values());
  }

  /** A deposit that no rail reported counts as a correction does. */
  #maxOf(rail: string): number {
    return this.#maxima.get(rail) ?? this.#lowest();
  }

  /** Counts the act that has ended with the row before. */
  #count(): void {
    const act = this.#last;
    this.#last = undefined;
    if (act === undefined) return;
    const { row, person, amountCents, maxCents } = act;
    const day = Math.floor((row.recorded_at + NAIROBI_OFFSET_MILLIS) / DAY_MILLIS);
    const before = this.#sums.get(person);
    const cents = (before?.day === day ? before.cents : 0) + amountCents;
    this.#sums.set(person, { day, cents });
    const { findings } = this.#book;
    const place = { seq: row.seq, table: "journal", id: undefined } as const;
    findings.compareFields(place, { alone_by: [person, row.alone_by], alone_cents: [cents, row.alone_cents] });
    if (amountCents > maxCents || cents > maxCents * ALONE_IN_A_DAY) {
      const [most, mostOfDay] = [decimalOf(maxCents), decimalOf(maxCents * ALONE_IN_A_DAY)];
      const expected = `at most ${most} by one person alone, and ${mostOfDay} in a day`;
      findings.add(place, { expected, found: `${decimalOf(amountCents)}, and ${decimalOf(cents)} in the day` });
    }
  }

  #follow(row: AuditedJournalRow, begun: AuditedTransactionRow | undefined): void {
    const { kind, transaction_id: id } = row;
    if (kind === "transaction.pending" && begun !== undefined) this.#open.set(begun.id, begun);
    if (id !== null && ENDS.has(kind)) this.#open.delete(id);
    const { deposit_id: depositId = null, type, amount_cents: cents = 0 } = begun ?? {};
    // A mint credits the deposit. A redemption takes the credit back.
    if (depositId !== null && type === "MINT") this.#waiting.delete(depositId);
    if (depositId !== null && type === "REDEEM") this.#waiting.set(depositId, cents);
    if (kind === "deposit.received") this.#waiting.set(depositIn(row), row.amount_cents ?? 0);
    if (kind === "deposit.returned" || kind === "deposit.reversed") this.#waiting.delete(depositIn(row));
    if (kind === "rail.changed") {
      const changed = jsonIn("detail", row.detail, "{}") as Readonly<Record<string, unknown>>;
      this.#maxima.set(String(changed["rail"]), Number(changed["resolve_alone_max_cents"]));
    }
  }
}

/** Whether the row belongs to the act of the row before: one commit has written both. */
function isNext(
  { row: last, about }: AloneAct,
  row: AuditedJournalRow,
  begun: AuditedTransactionRow | undefined,
): boolean {
  const isOneCommit = row.seq === last.seq + 1 && row.actor === last.actor && row.recorded_at === last.recorded_at;
  const isAbout = begun?.deposit_id === about || (begun?.correction === "LATE" && begun.corrects_id === about);
  return isOneCommit && begun !== undefined && isAbout;
}

function depositIn({ detail }: AuditedJournalRow): string {
  return (detail ?? "").split(" ")[0] ?? "";
}

/** Returns the word of a detail that names persons, and the persons. Nothing for other details. */
function personsIn(detail: string | null): readonly (string | undefined)[] {
  return detail?.startsWith("[") === true ? (jsonIn("detail", detail, "[]") as readonly string[]) : [];
}
