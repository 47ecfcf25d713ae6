import { RESERVE_KINDS } from "../../domain/reserve.js";
import type { Migration } from "./migration.js";

const KINDS = RESERVE_KINDS.map((kind) => `'${kind}'`).join(", ");

/**
 * What each part of the reserve is, and the rules about it. `books.reserve_rules` is the detail of
 * the newest row `reserve.rules_set`: the rules as a JSON text.
 */
export const reserveRules: Migration = ({ table }) => [
  `ALTER TABLE ${table("reserve_places")} ADD COLUMN kind TEXT NOT NULL DEFAULT 'other' CHECK (kind IN (${KINDS}))`,
  `ALTER TABLE ${table("reserve_places")} ADD COLUMN document_sha256 TEXT CHECK (length(document_sha256) = 64)`,
  `ALTER TABLE ${table("reserve_places")} ADD COLUMN matures_on TEXT CHECK (length(matures_on) = 10)`,
  `ALTER TABLE ${table("books")} ADD COLUMN reserve_rules TEXT CHECK (reserve_rules <> '')`,
];
