import type { VNode } from "preact";

import { Acts } from "../acts/act-links.js";
import { Standing, standingOf } from "../acts/standing.js";
import { csvOf, fieldsOf } from "../export.js";
import type { Deposit, SameNumber as SameNumberMessage } from "../gen/messages.js";
import { type Page, type Visit, within } from "../page.js";
import { type OfCustomer, pageOf, type ReadRows, withCustomers } from "../upstream/rows.js";
import { Choices, Field, Filters, NoId, Ranges, Select, tidied } from "../view/filters.js";
import { Short } from "../view/journal.js";
import { Link } from "../view/link.js";
import { Customer, depositColumns, depositTotals, ListPage, ReceiptOf, receiptText } from "../view/lists.js";
import { Facts, Refused } from "../view/parts.js";
import { Id, moneyText, Status, Time } from "../view/values.js";

const ROWS = 50;
// Each page of an export has one read of at most 100 accounts.
const EXPORTED_ROWS = 100;
const STATUSES = ["unallocated", "credited", "returning", "returned", "reversed"];
const REASONS = [
  ...["no_reference", "unknown_reference", "account_closed", "limit_exceeded", "order_unclear", "by_hand"],
  ...["unassigned", "return_failed", "receipt_already_used"],
];

function readerOf(visit: Visit): ReadRows<OfCustomer<Deposit>> {
  const { query } = visit;
  const value = (name: string): string => query.get(name) ?? "";
  return async (page) =>
    withCustomers(
      visit,
      pageOf(
        await visit.read("DepositService/ListDeposits", {
          account_id: value("account"),
          statuses: chosenIn(query, "status", STATUSES),
          reasons: chosenIn(query, "reason", REASONS),
          min_amount: value("min_amount"),
          max_amount: value("max_amount"),
          start: value("start"),
          end: value("end"),
          ...page,
        }),
        ({ deposits }) => deposits,
      ),
    );
}

function chosenIn(query: URLSearchParams, name: string, values: readonly string[]): readonly string[] {
  return query.getAll(name).filter((value) => values.includes(value));
}

/** What did people pay by hand, and where is it? */
export const depositsPage: Page = {
  path: "/:org/deposits",
  async show(visit) {
    const { query } = visit;
    const tidy = tidied(visit);
    if (tidy !== undefined) return tidy;
    const value = (name: string): string => query.get(name) ?? "";
    const reading = await readerOf(visit)({ page_size: ROWS, page_token: value("page") });
    const columns = depositColumns({ visit, hasAll: true });
    return {
      title: "Deposits",
      showsBook: true,
      body: (
        <>
          <h1>Deposits</h1>
          <Ranges visit={visit} />
          <Filters visit={visit} columns={columns}>
            <Choices name="status" label="Status" values={STATUSES} chosen={chosenIn(query, "status", STATUSES)} />
            <Select name="reason" label="Why it waits" values={REASONS} chosen={value("reason")} />
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
            totalsOf={depositTotals}
            empty="No deposit has all of this."
            holds="user_ids, masked phone numbers and what payers typed, masked"
          />
        </>
      ),
    };
  },
};

/** The deposits of the page as a file, with its masks. */
export const depositsCsv: Page = {
  path: "/:org/deposits.csv",
  isDownload: true,
  show: (visit) =>
    csvOf({
      name: "deposits",
      read: readerOf(visit),
      pageSize: EXPORTED_ROWS,
      columns: {
        ...fieldsOf<Deposit>("id", "created_at", "paid_at", "status", "reason", "amount", "rail"),
        receipt: receiptText,
        ...fieldsOf<Deposit>("account_id"),
        user_id: ({ account_id, user_id }: OfCustomer<Deposit>) => (account_id === null ? null : user_id),
        ...fieldsOf<Deposit>("transaction_id", "masked_payer_phone_number", "typed_reference", "updated_at"),
      },
    }),
};

/** Whose shillings are these? */
export const depositPage: Page = {
  path: "/:org/deposits/:dep",
  async show(visit) {
    const deposit_id = visit.ids["dep"] ?? "";
    const [reading, standing] = await Promise.all([
      visit.read("DepositService/GetDeposit", { deposit_id }),
      standingOf(visit, deposit_id),
    ]);
    if (!reading.ok) {
      if (reading.refusal.reason === "DEPOSIT_NOT_FOUND") return undefined;
      return { title: "Deposit", body: <Refused refusal={reading.refusal} /> };
    }
    const page = { rows: [reading.value.deposit], next: null };
    const named = await withCustomers(visit, { ok: true, value: page });
    const deposit: OfCustomer<Deposit> = (named.ok ? named.value.rows[0] : undefined) ?? reading.value.deposit;
    return {
      title: "Deposit",
      body: (
        <>
          <h1>
            Deposit of {moneyText(deposit.amount)} KES <Status>{deposit.status}</Status>
          </h1>
          <p class="lead">
            {deposit.reason === null
              ? visit.meaningOf("DepositStatus", deposit.status)
              : visit.meaningOf("DepositReason", deposit.reason)}
          </p>
          <Facts
            facts={{
              Id: <Id>{deposit.id}</Id>,
              Receipt: <ReceiptOf row={deposit} />,
              "Same number":
                deposit.same_number === null ? null : <SameNumber visit={visit} of={deposit.same_number} />,
              Rail: deposit.rail,
              Payer: deposit.masked_payer_phone_number,
              "Typed as account number": deposit.typed_reference,
              Customer: deposit.account_id === null ? null : <Customer visit={visit} row={deposit} />,
              Transaction: deposit.transaction_id === null ? null : <Short visit={visit} id={deposit.transaction_id} />,
              Paid: deposit.paid_at === null ? null : <Time>{deposit.paid_at}</Time>,
              Received: <Time>{deposit.created_at}</Time>,
            }}
          />
          <Standing visit={visit} reading={standing} />
          <Acts visit={visit} acts={(ACTS[deposit.status] ?? []).map((name) => [name, { deposit_id }])} />
          <p>
            <Link to={within(visit, "/deposits")}>All deposits</Link>
          </p>
        </>
      ),
    };
  },
};

interface SameNumberProps {
  readonly visit: Visit;
  readonly of: SameNumberMessage;
}

/** What had the number before: the shillings of the deposit may be credited already. */
function SameNumber({ visit, of: { receipt, transaction_id, deposit_id } }: SameNumberProps): VNode {
  const id = transaction_id ?? deposit_id;
  return (
    <>
      {receipt.source}:{receipt.number}
      {id === null ? (
        " of a correction of the book"
      ) : (
        <>
          {" "}
          of <Short visit={visit} id={id} />
        </>
      )}
    </>
  );
}

/** The acts that are possible, by the status of the deposit. */
const ACTS: Readonly<Record<string, readonly string[]>> = {
  unallocated: ["assign", "return", "reverse-deposit"],
  returning: ["reverse-deposit"],
  credited: ["unassign", "reverse-deposit"],
};
