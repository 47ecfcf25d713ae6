import type { RowOf } from "../../../model/column.js";
import { RESERVE_PLACES } from "../../../model/organizations.js";
import type { Audit } from "../../audit.js";
import type { Place } from "../../findings.js";
import { decimalOf } from "../../format.js";
import { jsonIn } from "../../guarded.js";
import type { AuditedBook } from "../book.js";
import { checkOwnHash } from "../content.js";
import type { AuditedJournalRow } from "../journal-rows.js";
import type { AuditPart } from "../part.js";
import { smallTableAudit } from "../table-audit.js";

type AuditedPlaceRow = RowOf<typeof RESERVE_PLACES>;

interface Figure {
  readonly seq: number;
  readonly asOfDay: string;
  readonly text: string;
  /** How its statements are read, as JSON. Null until a row says it. */
  readonly form: string | null;
}

/**
 * Checks what the operator recorded about the reserve of one book, and compares `reserve_places`
 * with the figure of each place for its last day.
 */
export function reserveAudit(audit: Audit, book: AuditedBook): AuditPart {
  const table = "reserve_places";
  const derived = new Map<string, Figure>();
  return smallTableAudit<typeof RESERVE_PLACES, Figure>(audit, book, {
    table,
    owner: RESERVE_PLACES.owner,
    derived,
    idOf: ({ place }) => place,
    follow: (row) => {
      if (!row.kind.startsWith("reserve.")) return;
      checkOwnHash(book, row);
      // The rules are compared with the row of the book (journal.ts).
      if (row.kind === "reserve.recorded") record(book, row, derived);
      else if (row.kind === "reserve.place_set") setForm(book, row, derived);
    },
    compare: (_, figure, row) => {
      const place: Place = { seq: figure?.seq ?? row?.seq, table, id: undefined };
      const expected = figure === undefined ? "a journal row that records it" : withForm(figure.text, figure.form);
      book.findings.compare(place, { expected, found: row === undefined ? "no row" : found(row) });
    },
  });
}

function record({ findings }: AuditedBook, row: AuditedJournalRow, figures: Map<string, Figure>): void {
  const parts = jsonIn("detail", row.detail, "[]") as unknown[];
  const [name, amountCents, asOfDay, evidence, kind, document, maturesOn] = parts;
  if (typeof name !== "string" || typeof amountCents !== "number") {
    findings.onRow(row, "a place and its figure in the detail", String(row.detail));
    return;
  }
  const earlier = figures.get(name);
  if (earlier !== undefined && earlier.asOfDay > String(asOfDay)) return;
  const { seq, recorded_at } = row;
  const terms = { kind: String(kind), document_sha256: textOrNull(document), matures_on: textOrNull(maturesOn) };
  const figure = { ...terms, as_of_day: String(asOfDay), evidence: String(evidence), recorded_at };
  const text = describe({ ...figure, place: name, seq, amount_cents: amountCents });
  figures.set(name, { seq, asOfDay: figure.as_of_day, form: earlier?.form ?? null, text });
}

function setForm({ findings }: AuditedBook, row: AuditedJournalRow, figures: Map<string, Figure>): void {
  const [name, form] = jsonIn("detail", row.detail, "[]") as unknown[];
  const figure = typeof name === "string" ? figures.get(name) : undefined;
  if (figure === undefined || typeof name !== "string" || typeof form !== "string") {
    findings.onRow(row, "a place with a figure, and its form in the detail", String(row.detail));
    return;
  }
  figures.set(name, { ...figure, form });
}

function found({ statement_form: form, ...figure }: AuditedPlaceRow): string {
  return withForm(describe(figure), form);
}

function withForm(text: string, form: string | null): string {
  return `${text}, statements ${form ?? "of no form"}`;
}

function describe({
  place,
  seq,
  amount_cents,
  as_of_day,
  evidence,
  recorded_at,
  ...terms
}: Omit<AuditedPlaceRow, "book" | "statement_form">): string {
  const at = `on ${as_of_day}, recorded in row ${String(seq)} at ${String(recorded_at)}`;
  const { kind, document_sha256: document, matures_on: maturesOn } = terms;
  const words = `${kind}, document ${document ?? "none"}, matures ${maturesOn ?? "never"}`;
  return `${JSON.stringify(place)} with ${decimalOf(amount_cents)} ${at}, by ${JSON.stringify(evidence)}: ${words}`;
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
