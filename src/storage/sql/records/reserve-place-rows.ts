import type { ReserveKind, ReservePlace } from "../../../domain/reserve.js";
import { formFromText, formText } from "../../../domain/statement-form.js";
import { toCents } from "../../../domain/values/cents.js";
import type { OrganizationId } from "../../../domain/values/ids.js";
import type { NairobiDay } from "../../../domain/values/nairobi-day.js";
import { toUnixMillis } from "../../../domain/values/time.js";
import { changedNamesOf, type InsertedRow, type RowOf } from "../../../model/column.js";
import { RESERVE_PLACES } from "../../../model/organizations.js";
import type { RowPlace, Table } from "../table.js";

/** A row of `reserve_places`. */
export type PlaceRow = RowOf<typeof RESERVE_PLACES>;

export const RESERVE_PLACE_TABLE: Table<ReservePlace, PlaceRow & { readonly organization_id: string }> = {
  name: "reserve_places",
  key: RESERVE_PLACES.key,
  insertedRow: reservePlaceRowOf,
  reads: ({ table }, { list }) => [
    {
      finders: ["reservePlaces"],
      isAfterLock: true,
      sql: `
        SELECT p.*, o.organization_id
        FROM ${table("reserve_places")} p JOIN ${table("books")} o ON o.number = p.book
        WHERE o.organization_id IN (${list}) ORDER BY p.place`,
    },
  ],
  rowOf: reservePlaceOf,
  updates: [{ sets: changedNamesOf(RESERVE_PLACES) }],
};

export function reservePlaceOf(row: PlaceRow & { readonly organization_id: string }): ReservePlace {
  return {
    organizationId: row.organization_id as OrganizationId,
    place: row.place,
    amountCents: toCents(row.amount_cents),
    asOfDay: row.as_of_day as NairobiDay,
    evidence: row.evidence,
    kind: row.kind as ReserveKind,
    documentSha256: row.document_sha256 ?? undefined,
    maturesOn: (row.matures_on ?? undefined) as NairobiDay | undefined,
    statementForm: row.statement_form === null ? undefined : formFromText(row.statement_form),
    recordedAt: toUnixMillis(row.recorded_at),
    seq: row.seq,
  };
}

function reservePlaceRowOf(figure: ReservePlace, { book }: RowPlace): InsertedRow<typeof RESERVE_PLACES> {
  return {
    book: book.number,
    place: figure.place,
    seq: figure.seq,
    amount_cents: figure.amountCents,
    as_of_day: figure.asOfDay,
    evidence: figure.evidence,
    recorded_at: figure.recordedAt,
    kind: figure.kind,
    document_sha256: figure.documentSha256 ?? null,
    matures_on: figure.maturesOn ?? null,
    statement_form: figure.statementForm === undefined ? null : formText(figure.statementForm),
  };
}
