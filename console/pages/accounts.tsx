import type { Page } from "../page.js";
import { Choices, Field, moreOf } from "../view/filters.js";
import { AccountList } from "../view/lists.js";
import { More, Section } from "../view/parts.js";

const ROWS = 50;
const STATUSES = ["active", "frozen", "closed"];

/**
 * Who are our customers? Find looks for a phone number or an e-mail address, since no URL may have
 * one.
 */
export const accountsPage: Page = {
  path: "/:org/accounts",
  async show(visit) {
    const { query, path } = visit;
    const value = (name: string): string => query.get(name) ?? "";
    const statuses = query.getAll("status").filter((status) => STATUSES.includes(status));
    const filters = { tier: value("tier"), start: value("start"), end: value("end") };
    const reading = await visit.read("AccountService/ListAccounts", {
      ...filters,
      statuses,
      page_size: ROWS,
      page_token: value("page"),
    });
    return {
      title: "Customers",
      body: (
        <>
          <h1>Customers</h1>
          <form method="get" action={path} class="filters">
            <Choices name="status" label="Status" values={STATUSES} chosen={statuses} />
            <Field name="tier" label="Tier" value={filters.tier} />
            <Field name="start" label="Since day" value={filters.start} isDay />
            <Field name="end" label="Until day" value={filters.end} isDay />
            <button type="submit">Filter</button>
          </form>
          <Section title="Newest first" reading={reading} retry={path}>
            {({ accounts, next_page_token: token }) => (
              <>
                {accounts.length === 0 && token !== null ? null : (
                  <AccountList visit={visit} rows={accounts} empty="No customer has all of this." />
                )}
                <More to={moreOf(path, query, token)} isEmpty={accounts.length === 0} />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};
