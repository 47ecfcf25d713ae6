import type { ModelName } from "../../model/tables.js";
import type { AuditedJournalRow } from "./journal-rows.js";

/** A part of the audit of one book. Its steps are called in this order. */
export interface AuditPart {
  /** The table of a finding about what the part could not read. */
  readonly table: ModelName;
  /** Called once, before the first row. */
  begin?(): Promise<void>;
  /** Takes each row of the book in the order of `seq`, up to its head. */
  row?(row: AuditedJournalRow): void;
  /** Takes some thousand rows at a time, after `row` has had each of them. */
  slice?(rows: readonly AuditedJournalRow[]): Promise<void> | void;
  /** Called once, after the last row. */
  end?(): Promise<void> | void;
}
