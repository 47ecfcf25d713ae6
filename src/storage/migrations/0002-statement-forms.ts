import type { Migration } from "./migration.js";

/**
 * How the statements of a place are read, as JSON. It is what the newest row `reserve.place_set` of
 * the place says. NULL until a person has said it.
 */
export const statementForms: Migration = ({ table }) => [
  `ALTER TABLE ${table("reserve_places")} ADD COLUMN statement_form TEXT`,
];
