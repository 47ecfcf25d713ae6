import type { BookAccount } from "../../domain/journal.js";
import type { RowOf } from "../../model/column.js";
import { PROPOSALS } from "../../model/transactions.js";
import { proposalMac } from "../../storage/secrets/proposal-mac.js";
import type { Audit } from "../audit.js";
import type { Place } from "../findings.js";
import { describePosting, type Direction } from "../format.js";
import { jsonIn } from "../guarded.js";
import { kindsOfAct, outdates, OUTDATING } from "./acts.js";
import type { AuditedBook } from "./book.js";
import { checkOwnHash } from "./content.js";
import type { AuditedJournalRow } from "./journal-rows.js";
import type { AuditPart } from "./part.js";
import { smallTableAudit } from "./table-audit.js";

type AuditedProposalRow = RowOf<typeof PROPOSALS>;

/** The content of a correction: its name, its amount, and what it is about. */
type ProposedContent = readonly unknown[];

interface ProposedCorrection {
  /** The posting. None moves no money. */
  readonly posting: (row: AuditedJournalRow) => Direction | undefined;
  /** The name of the correction in the content of a proposal. */
  readonly name: string;
  /** What the content has behind the amount. */
  readonly targets: (row: AuditedJournalRow, content: ProposedContent) => ProposedContent;
  /** Whether the row has the receipt of what moved. */
  readonly hasReceipt: boolean;
  readonly account: "always" | "never" | "maybe";
}

const always = (debit: BookAccount, credit: BookAccount) => (): Direction => ({ debit, credit });
const payerOf = ({ account_id: id }: AuditedJournalRow): BookAccount => (id === null ? "shortfall" : "available");
const accountIn = ({ account_id: id }: AuditedJournalRow): ProposedContent => (id === null ? [] : [id]);
const receiptIn = ({ rail_receipt: receipt }: AuditedJournalRow): ProposedContent => [receipt];
const RECEIPT = { targets: receiptIn, hasReceipt: true, account: "never" } as const;
const ACCOUNT = { targets: accountIn, hasReceipt: false, account: "always" } as const;

// Repeated on purpose: an audit must not depend on the code that it audits.
const CORRECTIONS: Readonly<Record<string, ProposedCorrection>> = {
  "book.covered": {
    posting: always("reserve", "shortfall"),
    name: "coverShortfall",
    targets: () => [],
    hasReceipt: false,
    account: "never",
  },
  "book.recovered": { ...ACCOUNT, posting: always("available", "shortfall"), name: "recoverShortfall" },
  "book.allocated": { ...ACCOUNT, posting: always("unallocated", "available"), name: "allocate" },
  "book.returned": { ...RECEIPT, posting: always("unallocated", "reserve"), name: "returnUnallocated" },
  "book.received": { ...RECEIPT, posting: always("reserve", "unallocated"), name: "bookReceipt" },
  "book.paid": {
    posting: (row) => ({ debit: payerOf(row), credit: "reserve" }),
    name: "bookPayment",
    targets: (row) => [row.rail_receipt, ...accountIn(row)],
    hasReceipt: true,
    account: "maybe",
  },
  "book.adjusted": {
    posting: (row) =>
      row.debit === "reserve"
        ? { debit: "reserve", credit: row.account_id === null ? "unallocated" : "available" }
        : { debit: payerOf(row), credit: "reserve" },
    name: "adjustMovement",
    // Only the content says which movement it is.
    targets: (row, content) => [content[2], row.debit === "reserve" ? "in" : "out", ...accountIn(row)],
    hasReceipt: false,
    account: "maybe",
  },
  "book.transferred": {
    posting: () => undefined,
    name: "explainTransfer",
    targets: (row, content) => [row.rail_receipt, content[3] === "in" ? "in" : "out"],
    hasReceipt: true,
    account: "never",
  },
  "book.funded": {
    posting: ({ debit }) =>
      debit === "reserve" ? { debit: "reserve", credit: "charges" } : { debit: "charges", credit: "reserve" },
    name: "fundCharges",
    targets: (row) => [row.rail_receipt, row.debit === "reserve" ? "in" : "out"],
    hasReceipt: true,
    account: "never",
  },
};
const PROPOSED = "book.proposed";
const PROPOSING: ReadonlySet<string> = new Set([PROPOSED, "transaction.resolution_proposed"]);
const APPROVED = "book.proposal_approved";
/** The kinds of rows that end a proposal, and the decision that its row has then. */
const ENDS: Readonly<Record<string, string>> = { "book.proposal_rejected": "REJECTED", [APPROVED]: "APPROVED" };
/** A proposal of an operator can be decided for three days. */
const OPEN_MILLIS = 259_200_000;
/** Whether a row of this kind may lack an account, and whether it may have one. */
export function accountsOf(kind: string): { readonly mayLack: boolean; readonly mayHave: boolean } {
  const account = CORRECTIONS[kind]?.account ?? (kind === PROPOSED || Object.hasOwn(ENDS, kind) ? "never" : "always");
  return { mayLack: account !== "always", mayHave: account !== "never" };
}

/** What the journal says about one subject. */
interface Derived {
  readonly content: string;
  readonly person: string;
  readonly proposedAt: number;
  readonly doneAt: number | null;
  readonly seq: number;
}

/**
 * Checks what operators proposed and did in one book, and compares it with `proposals`. People
 * propose, so the proposals are few, and all of them stay in memory.
 */
export function proposalsAudit(audit: Audit, book: AuditedBook): AuditPart {
  const check = new ProposalsCheck(book);
  return smallTableAudit<typeof PROPOSALS, Derived>(audit, book, {
    table: "proposals",
    owner: PROPOSALS.owner,
    derived: check.derived,
    idOf: ({ subject }) => subject,
    follow: check.row.bind(check),
    compare: check.compare.bind(check),
  });
}

class ProposalsCheck {
  readonly derived = new Map<string, Derived>();
  readonly #book: AuditedBook;
  /** The rows that end the newest proposal, by its subject. */
  readonly #ended = new Map<string, AuditedJournalRow>();
  /** The rows that may outdate a proposal. */
  readonly #outdating: AuditedJournalRow[] = [];
  /** What two persons have done, until a row says which proposal that was. */
  #unnamed: AuditedJournalRow | undefined;
  /** When each row that proposes was recorded, by its seq. */
  readonly #proposed = new Map<number, number>();
  /** The rows that two persons have made, and both persons. */
  readonly #ofTwo = new Map<number, { readonly row: AuditedJournalRow; readonly persons: string }>();

  constructor(book: AuditedBook) {
    this.#book = book;
  }

  /** Takes the rows of the book in the order of `seq`. */
  row(row: AuditedJournalRow): void {
    const persons = personsOf(row);
    if (persons !== undefined && row.kind !== APPROVED) this.#ofTwo.set(row.seq, { row, persons });
    this.#expectName(row, persons);
    if (OUTDATING.has(row.kind)) this.#outdating.push(row);
    if (Object.hasOwn(ENDS, row.kind)) this.#end(row);
    if (row.kind === PROPOSED) this.#proposed.set(row.seq, row.recorded_at);
    if (Object.hasOwn(CORRECTIONS, row.kind) || PROPOSING.has(row.kind)) this.#check(row);
  }

  compare(subject: string, derived: Derived | undefined, row: AuditedProposalRow | undefined): void {
    const { findings } = this.#book;
    const place: Place = { seq: derived?.seq, table: "proposals", id: subject };
    if (!findings.isThere(place, row, "a row")) return;
    if (!findings.isThere(place, derived, "a journal row that proposes it")) return;
    findings.compareFields(place, {
      content: [derived.content, row.content],
      person: [derived.person, row.person],
      proposed_at: [derived.proposedAt, row.proposed_at],
      done_at: [this.#doneAtOf(row, derived.doneAt), row.done_at],
      seq: [this.#seqOf(row, derived), row.seq],
    });
    this.#checkDecision(place, row);
  }

  #check(row: AuditedJournalRow): void {
    const correction = CORRECTIONS[row.kind];
    const [subject, person, content] = readDetail(row.detail);
    if (subject === undefined || person === undefined || content === undefined) {
      this.#book.findings.onRow(row, "a subject, a person and a content in the detail", String(row.detail));
      return;
    }
    this.#checkPosting(row, correction?.posting(row));
    if (correction !== undefined) this.#checkContent(row, content, correction);
    this.#checkHash(row);
    this.#follow(subject, { person, content, row, isDone: correction !== undefined });
  }

  /** The rows of an act of two persons are followed by the row that names its proposal. */
  #expectName(row: AuditedJournalRow, persons: string | undefined): void {
    const unnamed = this.#unnamed;
    this.#unnamed = row.kind === APPROVED ? undefined : persons === undefined ? unnamed : row;
    if (unnamed === undefined || row.kind === APPROVED || row.actor === unnamed.actor) return;
    this.#book.findings.onRow(unnamed, "a row after it that names its proposal", row.kind);
    this.#unnamed = undefined;
  }

  /** A decision is final: no second row ends a proposal. */
  #end(row: AuditedJournalRow): void {
    const { findings } = this.#book;
    const [subject] = jsonIn("detail", row.detail, "[]") as readonly unknown[];
    const derived = typeof subject === "string" ? this.derived.get(subject) : undefined;
    if (typeof subject !== "string" || derived === undefined) {
      findings.onRow(row, "a proposal in the detail", String(row.detail));
    } else {
      const earlier = this.#ended.get(subject);
      if (earlier !== undefined)
        findings.onRow(row, `no row after ${earlier.kind} in row ${String(earlier.seq)}`, row.kind);
      const isLate = derived.person.startsWith("opr_") && row.recorded_at - derived.proposedAt >= OPEN_MILLIS;
      if (isLate) findings.onRow(row, "a decision before the proposal lapsed", row.kind);
      if (row.kind === APPROVED) this.#checkOutdated(row, derived);
      this.#ended.set(subject, row);
    }
    this.#checkHash(row);
  }

  /** The row of the act itself stands right before the one that names the proposal. */
  #checkOutdated(row: AuditedJournalRow, { seq, content }: Derived): void {
    const later = this.#outdating.find((each) => {
      return each.seq > seq && each.seq < row.seq - 1 && outdates(each, content);
    });
    if (later === undefined) return;
    this.#book.findings.onRow(row, `no approval after ${later.kind} in row ${String(later.seq)}`, row.kind);
  }

  /** Returns when the rows say that it was decided. The end of one that lapsed is no row. */
  #doneAtOf(row: AuditedProposalRow, doneAt: number | null): number | null {
    const endedAt = doneAt ?? this.#ended.get(row.subject)?.recorded_at ?? null;
    return endedAt === null && row.decision === "LAPSED" ? row.done_at : endedAt;
  }

  /** Returns the row that changed it last. */
  #seqOf(row: AuditedProposalRow, derived: Derived): number | null {
    const { seq, decision } = row;
    const ended = this.#ended.get(row.subject);
    if (ended !== undefined && decision !== "APPROVED") return ended.seq;
    // Another proposal noted that it had lapsed, and an act names no proposal.
    if (decision === "LAPSED") return this.#proposed.get(seq) === row.done_at ? seq : null;
    return decision === "APPROVED" && this.#ofTwo.get(seq)?.row.recorded_at === row.done_at ? seq : derived.seq;
  }

  /** Checks who decided a proposal, and that nobody has written it past the service. */
  #checkDecision(place: Place, row: AuditedProposalRow): void {
    const { findings, secrets, row: book } = this.#book;
    const { subject, id, content, person, proposed_at: at, expires_at: end, decision, decided_by: by } = row;
    const fields = [book.organization_id, subject, id, content, person, row.seq, at, end, decision, by, row.done_at];
    if (secrets !== undefined && row.mac.toString("hex") !== proposalMac(secrets.keys, fields)) {
      findings.add(place, { expected: "the mac of the proposal", found: "another mac, or another row" });
    }
    const ended = this.#ended.get(subject);
    if (ended !== undefined) findings.compareFields(place, { decision: [ENDS[ended.kind] ?? null, decision] });
    if (decision === "REJECTED") {
      findings.compareFields(place, { decided_by: [ended?.actor ?? null, by] });
    } else if (decision === "LAPSED") {
      const isOver = end !== null && (row.done_at ?? 0) >= end;
      if (!isOver) findings.add(place, { expected: "no end before it lapses", found: String(row.done_at) });
    } else if (decision === "APPROVED" && !isOfCorrection(content)) {
      const act = this.#ofTwo.get(row.seq);
      const expected = kindsOfAct(content).map((kind) => `${kind} by ${person},${String(by)}`);
      const found = act === undefined ? "no row" : `${act.row.kind} by ${act.persons}`;
      if (!expected.includes(found)) findings.add(place, { expected: expected.join(" or "), found });
    }
    if (end !== null && row.done_at !== null && decision !== "LAPSED" && row.done_at >= end) {
      findings.add(place, { expected: "a decision before the proposal lapsed", found: String(row.done_at) });
    }
  }

  #checkPosting(row: AuditedJournalRow, direction: Direction | undefined): void {
    const { debit = null, credit = null } = direction ?? {};
    const isRight = row.debit === debit && row.credit === credit && (row.amount_cents === null) === (debit === null);
    if (isRight) return;
    const expected = describePosting({
      debit,
      credit,
      amount_cents: direction === undefined ? null : row.amount_cents,
    });
    this.#book.findings.onRow(row, `${row.kind} with ${expected}`, describePosting(row));
  }

  /** The detail names the correction, its amount, and its account or receipt. */
  #checkContent(
    row: AuditedJournalRow,
    content: string,
    { name, targets, hasReceipt, posting }: ProposedCorrection,
  ): void {
    const said = readContent(content);
    const amount = posting(row) === undefined ? amountIn(said) : row.amount_cents;
    const expected = JSON.stringify([name, amount, ...targets(row, said)]);
    if (JSON.stringify(said) !== expected) this.#book.findings.onRow(row, `the content ${expected}`, content);
    if (!hasReceipt && row.rail_receipt !== null) this.#book.findings.onRow(row, "no receipt", "a receipt");
  }

  /** The audits of accounts and of transactions check the hashes of their rows. */
  #checkHash(row: AuditedJournalRow): void {
    if (row.account_id !== null || row.transaction_id !== null) return;
    checkOwnHash(this.#book, row, { found: "another content_hash, kind, detail, receipt or time" });
  }

  #follow(
    subject: string,
    { person, content, row, isDone }: { person: string; content: string; row: AuditedJournalRow; isDone: boolean },
  ): void {
    const before = this.derived.get(subject);
    if (before?.doneAt !== undefined && before.doneAt !== null) {
      this.#book.findings.onRow(row, "no row about a subject that is done", row.kind);
    }
    const { seq, recorded_at: recordedAt } = row;
    // An equal proposal keeps its person and its time.
    const isSame = before?.content === content && !this.#isOver(subject, before, recordedAt);
    const kept = isSame ? before : { content, person, proposedAt: recordedAt, doneAt: null, seq };
    if (isSame && !isDone) this.#book.findings.onRow(row, "a new proposal", "an equal one");
    if (!isDone) this.#ended.delete(subject);
    this.derived.set(subject, { ...kept, doneAt: isDone ? recordedAt : null, seq });
  }

  /** Whether a proposal was decided, or lapsed. Only one of an operator lapses. */
  #isOver(subject: string, { proposedAt }: Derived, at: number): boolean {
    return this.#ended.has(subject) || at - proposedAt >= OPEN_MILLIS;
  }
}

/** Returns the two persons who have decided a row: its actors, or those in its detail. */
function personsOf({ kind, actor, detail }: AuditedJournalRow): string | undefined {
  const isResolved = kind === "transaction.completed" || kind === "transaction.failed";
  const [, proposer, approver] = isResolved ? readDetail(detail) : [];
  if (proposer !== undefined && approver !== undefined) return `${proposer},${approver}`;
  return actor.includes(",") ? actor : undefined;
}

/** One person may have made a correction: its row keeps the key. */
function isOfCorrection(content: string): boolean {
  const [correction] = readContent(content);
  return Object.values(CORRECTIONS).some(({ name }) => name === correction);
}

/** Returns three texts, or none of them if the detail has another form. */
function readDetail(detail: string | null): readonly (string | undefined)[] {
  let parts: unknown;
  try {
    parts = JSON.parse(detail ?? "");
  } catch {
    return [];
  }
  const isThreeTexts = Array.isArray(parts) && parts.length === 3 && parts.every((part) => typeof part === "string");
  return isThreeTexts ? (parts as string[]) : [];
}

/** Returns the parts of the content of a correction, or none if it has another form. */
function readContent(content: string): ProposedContent {
  try {
    const { name, amountCents, ...others } = JSON.parse(content) as Readonly<Record<string, unknown>>;
    const targets = TARGETS.map((field) => others[field]).filter((target) => target !== undefined);
    return [name, amountCents, ...targets];
  } catch {
    return [];
  }
}

/** The fields of a correction, in the order of the list. */
const TARGETS = ["receipt", "movement", "direction", "accountId"] as const;

/** The amount of a row that moves no money in the book. */
function amountIn([, amount]: ProposedContent): number | undefined {
  return typeof amount === "number" && Number.isSafeInteger(amount) && amount > 0 ? amount : undefined;
}
