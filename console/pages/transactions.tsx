import { csvOf, fieldsOf } from "../export.js";
import type { Transaction } from "../gen/messages.js";
import type { Page, Visit } from "../page.js";
import { type OfCustomer, pageOf, type ReadRows, withCustomers } from "../upstream/rows.js";
import { Choices, Field, Filters, NoId, Ranges, Select, tidied } from "../view/filters.js";
import { ListPage, receiptText, transactionColumns, transactionTotals } from "../view/lists.js";

const ROWS = 50;
// Each page of an export has one read of at most 100 accounts.
const EXPORTED_ROWS = 100;
const STATUSES = ["pending", "processing", "completed", "failed", "canceled"];
const FIELDS = ["type", "rail", "correction", "min_amount", "max_amount", "start", "end"] as const;
const [TYPES, CORRECTIONS] = [
  ["mint", "redeem"],
  ["reversal", "late"],
];

/** Reads the transactions that the URL asks for. */
function readerOf(visit: Visit): ReadRows<OfCustomer<Transaction>> {
  const { query } = visit;
  const filters = Object.fromEntries(FIELDS.flatMap((name) => (query.get(name) ? [[name, query.get(name)]] : [])));
  return async (page) =>
    withCustomers(
      visit,
      pageOf(
        await visit.read("TransactionService/ListTransactions", {
          ...filters,
          statuses: statusesIn(query),
          account_id: query.get("account") ?? "",
          ...(query.get("attention") === "yes" ? { needs_attention: true } : {}),
          ...page,
        }),
        ({ transactions }) => transactions,
      ),
    );
}

function statusesIn(query: URLSearchParams): readonly string[] {
  return query.getAll("status").filter((status) => STATUSES.includes(status));
}

/** The list of transactions, with its filters in the URL. */
export const transactionsPage: Page = {
  path: "/:org/transactions",
  async show(visit) {
    const { query } = visit;
    const tidy = tidied(visit);
    if (tidy !== undefined) return tidy;
    const value = (name: string): string => query.get(name) ?? "";
    const [reading, rails] = await Promise.all([
      readerOf(visit)({ page_size: ROWS, page_token: value("page") }),
      railsOf(visit),
    ]);
    const columns = transactionColumns({ visit });
    return {
      title: "Transactions",
      showsBook: true,
      body: (
        <>
          <h1>Transactions</h1>
          <Ranges visit={visit} />
          <Filters visit={visit} columns={columns}>
            <Choices name="status" label="Status" values={STATUSES} chosen={statusesIn(query)}>
              <label class="choice">
                <input type="checkbox" name="attention" value="yes" checked={value("attention") === "yes"} /> needs
                attention
              </label>
            </Choices>
            <Select name="type" label="Type" values={TYPES} chosen={value("type")} />
            <Select name="rail" label="Rail" values={rails} chosen={value("rail")} />
            <Select name="correction" label="Corrections" values={CORRECTIONS} chosen={value("correction")} />
            <Field name="min_amount" label="From KES" value={value("min_amount")} />
            <Field name="max_amount" label="To KES" value={value("max_amount")} />
            <Field name="start" label="From day" value={value("start")} isDay />
            <Field name="end" label="To day" value={value("end")} isDay />
            <Field name="account" label="Account (acc_…)" value={value("account")} />
          </Filters>
          <NoId text={value("account")} />
          <ListPage
            visit={visit}
            reading={reading}
            columns={columns}
            totalsOf={transactionTotals}
            empty="No transaction has all of this."
            holds="user_ids, references and descriptions"
          />
        </>
      ),
    };
  },
};

/** The rails that the organization has. Only `direct` if they cannot be read. */
async function railsOf(visit: Visit): Promise<readonly string[]> {
  const reading = await visit.read("AdminService/ListRailAccounts", {});
  return ["direct", ...(reading.ok ? reading.value.rail_accounts.map(({ rail }) => rail) : [])];
}

/** The transactions of the page as a file. */
export const transactionsCsv: Page = {
  path: "/:org/transactions.csv",
  isDownload: true,
  show: (visit) =>
    csvOf({
      name: "transactions",
      read: readerOf(visit),
      // Each row of the journal about a transaction names it, with its amount and its balances.
      command: `kesc export journal ${visit.organization?.id ?? "ORG"} --from DAY --to DAY`,
      pageSize: EXPORTED_ROWS,
      columns: {
        ...fieldsOf<Transaction>("id", "created_at", "type", "status", "amount", "rail", "account_id"),
        user_id: ({ user_id }) => user_id,
        ...fieldsOf<Transaction>("reference"),
        receipt: receiptText,
        ...fieldsOf<Transaction>("description", "correction", "corrects_transaction_id", "reversed_by_transaction_id"),
        failure: ({ failure }) => failure?.reason ?? null,
        ...fieldsOf<Transaction>("needs_attention", "available_balance_after", "completed_at", "updated_at"),
      },
    }),
};
