import { ACT_PAGES } from "../acts/act-pages.js";
import type { Page } from "../page.js";
import { accountPage } from "./account.js";
import { accountsCsv, accountsPage } from "./accounts.js";
import { approvalsPage, proposalPage } from "./approvals.js";
import { attentionPage } from "./attention.js";
import { auditPage } from "./audit.js";
import { closingPage, packFile } from "./close-month.js";
import { daysPage } from "./days.js";
import { depositPage, depositsCsv, depositsPage } from "./deposit.js";
import { findPage } from "./find.js";
import { journalCsv, journalPage, rowPage } from "./journal.js";
import { keysPage } from "./keys.js";
import { ledgerCsv } from "./ledger.js";
import { limitsPage } from "./limits.js";
import { monthPage } from "./month.js";
import { idPage, organizationsPage } from "./organizations.js";
import { payoutFilePage, payoutRowsCsv } from "./payout-file.js";
import { payoutHoldsPage, payoutListSent } from "./payout-holds.js";
import { payoutsPage, payoutsSent } from "./payouts.js";
import { peoplePage } from "./people.js";
import { railsPage } from "./rails.js";
import { comparisonPage, reconciliationPage } from "./reconciliation.js";
import { statementCsv, statementPage } from "./statement.js";
import { supplyPage } from "./supply.js";
import { todayPage } from "./today.js";
import { transactionPage } from "./transaction.js";
import { transactionsCsv, transactionsPage } from "./transactions.js";
import { webhookPage, webhooksPage } from "./webhooks.js";

/** Every page of people who have signed in. The first path that fits counts. */
export const PAGES: readonly Page[] = [
  organizationsPage,
  todayPage,
  findPage,
  accountsPage,
  accountsCsv,
  accountPage,
  statementPage,
  statementCsv,
  transactionsPage,
  transactionsCsv,
  transactionPage,
  depositsPage,
  depositsCsv,
  depositPage,
  attentionPage,
  supplyPage,
  daysPage,
  reconciliationPage,
  comparisonPage,
  payoutsPage,
  payoutsSent,
  payoutHoldsPage,
  payoutListSent,
  payoutFilePage,
  payoutRowsCsv,
  journalPage,
  journalCsv,
  ledgerCsv,
  monthPage,
  closingPage,
  packFile,
  rowPage,
  railsPage,
  webhooksPage,
  webhookPage,
  limitsPage,
  keysPage,
  ...[approvalsPage, proposalPage, peoplePage, auditPage, ...ACT_PAGES].flatMap(alsoWithin),
  idPage,
];

/** A page of no organization is also one of each: there it has the frame of the organization. */
function alsoWithin(page: Page): readonly Page[] {
  return [page, { ...page, path: `/:org${page.path}` }];
}
