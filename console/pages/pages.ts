import { ACT_PAGES } from "../acts/act-pages.js";
import type { Page } from "../page.js";
import { accountPage } from "./account.js";
import { accountsPage } from "./accounts.js";
import { approvalsPage, proposalPage } from "./approvals.js";
import { attentionPage } from "./attention.js";
import { daysPage } from "./days.js";
import { depositPage } from "./deposit.js";
import { findPage } from "./find.js";
import { journalPage, rowPage } from "./journal.js";
import { idPage, organizationsPage } from "./organizations.js";
import { peoplePage } from "./people.js";
import { RECONCILIATION_PAGES } from "./reconciliation.js";
import { statementPage } from "./statement.js";
import { supplyPage } from "./supply.js";
import { todayPage } from "./today.js";
import { transactionPage } from "./transaction.js";
import { transactionsPage } from "./transactions.js";

/** Every page of people who have signed in. The first path that fits counts. */
export const PAGES: readonly Page[] = [
  organizationsPage,
  todayPage,
  findPage,
  accountsPage,
  accountPage,
  statementPage,
  transactionsPage,
  transactionPage,
  depositPage,
  attentionPage,
  supplyPage,
  daysPage,
  ...RECONCILIATION_PAGES,
  journalPage,
  rowPage,
  ...[approvalsPage, proposalPage, peoplePage, ...ACT_PAGES].flatMap(alsoWithin),
  idPage,
];

/** A page of no organization is also one of each: there it has the frame of the organization. */
function alsoWithin(page: Page): readonly Page[] {
  return [page, { ...page, path: `/:org${page.path}` }];
}
