import { csvOf, fieldsOf } from "../export.js";
import type { Account } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { pageOf, type ReadRows } from "../upstream/rows.js";
import { Choices, Field, Filters, Ranges, Select, tidied } from "../view/filters.js";
import { accountColumns, accountTotals, ListPage } from "../view/lists.js";

const ROWS = 50;
const STATUSES = ["active", "frozen", "closed"];
const FIELDS = ["tier", "start", "end"] as const;

function readerOf(visit: Visit): ReadRows<Account> {
  const { query } = visit;
  const filters = Object.fromEntries(FIELDS.map((name) => [name, query.get(name) ?? ""]));
  return async (page) =>
    pageOf(
      await visit.read("AccountService/ListAccounts", { ...filters, statuses: statusesIn(query), ...page }),
      ({ accounts }) => accounts,
    );
}

function statusesIn(query: URLSearchParams): readonly string[] {
  return query.getAll("status").filter((status) => STATUSES.includes(status));
}

/**
 * Who are our customers? Find looks for a phone number or an e-mail address, since no URL may have
 * one.
 */
export const accountsPage: Page = {
  path: "/:org/accounts",
  async show(visit) {
    const { query } = visit;
    const tidy = tidied(visit);
    if (tidy !== undefined) return tidy;
    const value = (name: string): string => query.get(name) ?? "";
    const [reading, limits] = await Promise.all([
      readerOf(visit)({ page_size: ROWS, page_token: value("page") }),
      visit.read("AdminService/GetLimits", {}),
    ]);
    // An account has the tier "default" until it is moved.
    const tiers = new Set(["default", ...(limits.ok ? limits.value.tiers.map(({ tier }) => tier) : [])]);
    const columns = accountColumns(visit);
    return {
      title: "Customers",
      body: (
        <>
          <h1>Customers</h1>
          <Ranges visit={visit} />
          <Filters visit={visit} columns={columns}>
            <Choices name="status" label="Status" values={STATUSES} chosen={statusesIn(query)} />
            <Select name="tier" label="Tier" values={[...tiers]} chosen={value("tier")} />
            <Field name="start" label="Since day" value={value("start")} isDay />
            <Field name="end" label="Until day" value={value("end")} isDay />
          </Filters>
          <ListPage
            visit={visit}
            reading={reading}
            columns={columns}
            totalsOf={accountTotals}
            empty="No customer has all of this."
            holds="user_ids, masked phone numbers and masked e-mail addresses"
          />
        </>
      ),
    };
  },
};

/** The customers of the page as a file, with its masks. */
export const accountsCsv: Page = {
  path: "/:org/accounts.csv",
  isDownload: true,
  show: (visit) =>
    csvOf({
      name: "accounts",
      read: readerOf(visit),
      columns: fieldsOf<Account>(
        ...(["id", "user_id", "phone_number", "email", "status", "tier"] as const),
        ...(["available_balance", "held_balance", "deposit_reference", "created_at", "updated_at"] as const),
      ),
    }),
};
