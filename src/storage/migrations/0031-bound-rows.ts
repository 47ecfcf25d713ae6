import type { Migration } from "./migration.js";

/**
 * The `mac` of rows that give power: a server believes none without it (docs/adr/0059). The run of
 * this migration gives one to each row that the journal confirms. The index leads to the rows that
 * say which accounts at rails a book has.
 */
export const boundRows: Migration = ({ bytes, table }) => [
  ...["organizations", "api_keys", "rail_accounts"].map(
    (name) => `ALTER TABLE ${table(name)} ADD COLUMN mac ${bytes} CHECK (length(mac) = 32)`,
  ),
  `CREATE INDEX journal_rails ON ${table("journal")} (book, seq) WHERE kind = 'rail.changed'`,
];
