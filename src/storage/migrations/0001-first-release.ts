import { accounts, destinations, freezes } from "./baseline/accounts.js";
import { books, marks, moves, reserve } from "./baseline/books.js";
import { deposits } from "./baseline/deposits.js";
import { journal } from "./baseline/journal.js";
import { operators } from "./baseline/operators.js";
import { organizations } from "./baseline/organizations.js";
import { payments } from "./baseline/payments.js";
import { rails } from "./baseline/rails.js";
import { restores } from "./baseline/restores.js";
import { seals } from "./baseline/seals.js";
import { sessions } from "./baseline/sessions.js";
import { transactions } from "./baseline/transactions.js";
import { webhooks } from "./baseline/webhooks.js";
import type { Migration } from "./migration.js";

// A table comes after those that it refers to.
const PARTS = [
  organizations,
  books,
  marks,
  reserve,
  moves,
  accounts,
  freezes,
  destinations,
  transactions,
  journal,
  payments,
  rails,
  deposits,
  webhooks,
  seals,
  operators,
  sessions,
  restores,
];

/** The schema of the first release. */
export const baseline: Migration = (engine) => PARTS.flatMap((part) => part(engine));
