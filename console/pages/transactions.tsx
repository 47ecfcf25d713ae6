import type { VNode } from "preact";

import { type Page, type Visit } from "../page.js";
import { Choices, Field, moreOf, NoId } from "../view/filters.js";
import { pathWith } from "../view/link.js";
import { TransactionList } from "../view/lists.js";
import { More, Section } from "../view/parts.js";

const ROWS = 50;
const STATUSES = ["pending", "processing", "completed", "failed", "canceled"];
const FIELDS = ["rail", "min_amount", "max_amount", "start", "end"] as const;

/** The list of transactions, with its filters in the URL. */
export const transactionsPage: Page = {
  path: "/:org/transactions",
  async show(visit) {
    const { query, path } = visit;
    const of = (name: string): string | undefined => query.get(name) ?? undefined;
    const statuses = query.getAll("status").filter((status) => STATUSES.includes(status));
    const type = of("type");
    const filters = Object.fromEntries(FIELDS.map((name) => [name, of(name) ?? ""]));
    const reading = await visit.read("TransactionService/ListTransactions", {
      ...filters,
      ...(type === "mint" || type === "redeem" ? { type } : {}),
      statuses,
      account_id: of("account") ?? "",
      ...(of("attention") === "yes" ? { needs_attention: true } : {}),
      page_size: ROWS,
      page_token: of("page") ?? "",
    });
    return {
      title: "Transactions",
      showsBook: true,
      body: (
        <>
          <h1>Transactions</h1>
          <Filters visit={visit} statuses={statuses} />
          <NoId text={of("account") ?? ""} />
          <Section title="Newest first" reading={reading} retry={pathWith(path, filters)}>
            {({ transactions, next_page_token }) => (
              <>
                {transactions.length === 0 && next_page_token !== null ? null : (
                  <TransactionList visit={visit} rows={transactions} empty="No transaction has all of this." />
                )}
                <More to={moreOf(path, query, next_page_token)} isEmpty={transactions.length === 0} />
              </>
            )}
          </Section>
        </>
      ),
    };
  },
};

function Filters({
  visit: { path, query },
  statuses,
}: {
  readonly visit: Visit;
  readonly statuses: readonly string[];
}): VNode {
  const value = (name: string): string => query.get(name) ?? "";
  return (
    <form method="get" action={path} class="filters">
      <Choices name="status" label="Status" values={STATUSES} chosen={statuses}>
        <label class="choice">
          <input type="checkbox" name="attention" value="yes" checked={value("attention") === "yes"} /> needs attention
        </label>
      </Choices>
      <label>
        Type
        <select name="type">
          {["", "mint", "redeem"].map((type) => (
            <option key={type} value={type} selected={value("type") === type}>
              {type === "" ? "both" : type}
            </option>
          ))}
        </select>
      </label>
      <Field name="rail" label="Rail" value={value("rail")} />
      <Field name="min_amount" label="From KES" value={value("min_amount")} />
      <Field name="max_amount" label="To KES" value={value("max_amount")} />
      <Field name="start" label="From day" value={value("start")} isDay />
      <Field name="end" label="To day" value={value("end")} isDay />
      <Field name="account" label="Account (acc_…)" value={value("account")} />
      <button type="submit">Filter</button>
    </form>
  );
}
