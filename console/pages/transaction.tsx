import type { ComponentChildren, VNode } from "preact";

import { Acts } from "../acts/act-links.js";
import { Standing, standingOf } from "../acts/standing.js";
import type { Destination, Payment, Transaction } from "../gen/messages.js";
import { type Page, type Visit } from "../page.js";
import { type OfCustomer, withCustomers } from "../upstream/rows.js";
import type { ReadingOf } from "../upstream/upstream.js";
import { JournalTable, Short } from "../view/journal.js";
import { Customer, ReceiptOf } from "../view/lists.js";
import { Facts, Refused, Section, Table } from "../view/parts.js";
import { Held, Review, Waiting } from "../view/review.js";
import { Id, Money, moneyText, Status, Text, Time, words } from "../view/values.js";
import { ProofFacts } from "./journal.js";

/** Where is the money now, and why? */
export const transactionPage: Page = {
  path: "/:org/transactions/:txn",
  async show(visit) {
    const transaction_id = visit.ids["txn"] ?? "";
    const [transaction, payment, journal, proof, standing] = await Promise.all([
      visit.read("TransactionService/GetTransaction", { transaction_id }),
      visit.read("TransactionService/GetPayment", { transaction_id }),
      visit.read("AdminService/ListJournal", {
        transaction_id,
        page_size: 50,
      }),
      visit.read("BookService/GetInclusionProof", { transaction_id }),
      standingOf(visit, transaction_id),
    ]);
    if (!transaction.ok && transaction.refusal.reason === "TRANSACTION_NOT_FOUND") return undefined;
    const rows = transaction.ok ? [transaction.value.transaction] : [];
    const held = payment.ok ? payment.value.payment.held_reason : null;
    const [named, accounts, destination] = await Promise.all([
      withCustomers(visit, { ok: true, value: { rows, next: null } }),
      held === null ? undefined : visit.read("AdminService/ListRailAccounts", {}),
      destinationOf(visit, rows[0]),
    ]);
    const row = named.ok ? named.value.rows[0] : undefined;
    return {
      title: "Transaction",
      body: (
        <>
          {transaction.ok ? null : <Refused refusal={transaction.refusal} />}
          {row === undefined ? (
            <h1>Transaction</h1>
          ) : (
            <>
              <h1>
                {row.type === "mint" ? "Mint" : "Redeem"} {moneyText(row.amount)} KESC <Status>{row.status}</Status>
              </h1>
              <p class="lead">{sentenceOf(visit, row)}</p>
              <Review visit={visit} row={row} payment={payment.ok ? payment.value.payment : undefined} />
              {held === null ? null : <Held visit={visit} row={row} reason={held} accounts={accounts} />}
              <Waiting visit={visit} row={row} />
            </>
          )}
          <Standing visit={visit} reading={standing} />
          {row === undefined ? null : (
            <>
              <Acts visit={visit} acts={actsOf(row, payment)} />
              <Details visit={visit} row={row} payment={payment} destination={destination} />
            </>
          )}
          <Section title="Steps" reading={journal} retry={visit.path}>
            {({ entries }) => (
              <JournalTable
                visit={visit}
                entries={entries}
                without={["account", "transaction"]}
                empty="No row in the rows read."
              />
            )}
          </Section>
          {/* On the rail "direct" the caller has moved the shillings, and there is no order. */}
          {row?.rail === "direct" ? null : (
            <Section title="At the rail" reading={payment} retry={visit.path}>
              {(value) => <AtRail visit={visit} payment={value.payment} />}
            </Section>
          )}
          <Section title="Proof" reading={proof} retry={visit.path}>
            {(value) => <ProofFacts proof={value} query={`transaction_id=${transaction_id}`} />}
          </Section>
        </>
      ),
    };
  },
};

/** Undefined: the account's own number is paid, or the destination could not be read. */
async function destinationOf(visit: Visit, row: Transaction | undefined): Promise<Destination | undefined> {
  const { account_id, destination_id = null } = row ?? {};
  if (account_id === undefined || destination_id === null) return undefined;
  const read = await visit.read("AccountService/GetDestination", { account_id, destination_id });
  return read.ok ? read.value.destination : undefined;
}

interface HeadProps {
  readonly visit: Visit;
  readonly row: OfCustomer<Transaction>;
  readonly payment: ReadingOf<"TransactionService/GetPayment">;
}

interface DetailsProps extends HeadProps {
  readonly destination: Destination | undefined;
}

function Details({ visit, row, payment, destination }: DetailsProps): VNode {
  const phone =
    payment.ok && payment.value.payment.masked_phone_number !== "" ? payment.value.payment.masked_phone_number : null;
  return (
    <section>
      <h2>Details</h2>
      <Facts
        facts={{
          Customer: <Customer visit={visit} row={row} />,
          ...(destination === undefined ? { Phone: phone } : factsOf(destination)),
          Reference: row.reference,
          Description: row.description,
          Rail: row.rail,
          Receipt: <ReceiptOf row={row} />,
          "Balance after": row.available_balance_after === null ? null : <Money>{row.available_balance_after}</Money>,
          Note: row.status_note,
          Corrects: linkOrNull(visit, row.corrects_transaction_id),
          "Reversed by": linkOrNull(visit, row.reversed_by_transaction_id),
          Deposit: linkOrNull(visit, row.deposit_id),
          Accepted: <Time>{row.created_at}</Time>,
          Completed: row.completed_at === null ? null : <Time>{row.completed_at}</Time>,
          Id: <Id>{row.id}</Id>,
          ...Object.fromEntries(
            Object.entries(row.metadata).map(([name, value]) => [`metadata ${name}`, <Text>{value}</Text>]),
          ),
        }}
      />
    </section>
  );
}

/** Our name of a destination, and that of the rail beside it. */
function factsOf({ kind, masked_number, label, rail_name, rail_name_differs }: Destination) {
  const ofRail = (
    <>
      <Text>{rail_name ?? ""}</Text> {rail_name_differs === true ? <Status tone="bad">differs</Status> : null}
    </>
  );
  return {
    "Paid to": `${words(kind)} ${masked_number}`,
    Label: label === null ? null : <Text>{label}</Text>,
    "Name at the rail": rail_name === null ? "not known" : ofRail,
  };
}

/** One sentence: what the contract says about the status, or about the failure. */
function sentenceOf(visit: Visit, { failure, status }: Transaction): ComponentChildren {
  return failure === null ? meaningOfStatus(visit, status) : <Text>{failure.message}</Text>;
}

/** What the contract says of the status, but for where a transaction never has it. */
function meaningOfStatus(visit: Visit, status: string): string {
  return visit.meaningOf("TransactionStatus", status).replace(/ Not reached with .*$/, "");
}

function linkOrNull(visit: Visit, id: string | null): VNode | null {
  return id === null ? null : <Short visit={visit} id={id} />;
}

function AtRail({ visit, payment }: { readonly visit: Visit; readonly payment: Payment }): VNode {
  return (
    <>
      <p>{visit.meaningOf("PaymentState", payment.state)}</p>
      <Facts
        facts={{
          "Rail reference": payment.rail_reference,
          "Requests sent": timesText(payment.send_count),
          "Status queries": timesText(payment.check_count),
          "Last result code": payment.last_code,
          "First sent": payment.started_at === null ? null : <Time>{payment.started_at}</Time>,
          "Next status query": payment.next_check_at === null ? null : <Time>{payment.next_check_at}</Time>,
        }}
      />
      <Table
        caption="Messages of the rail. Anybody can send one, so none is a proof: the service asks the rail."
        columns={[
          { head: "When", cell: ({ received_at }) => <Time>{received_at}</Time> },
          { head: "About", cell: ({ purpose }) => words(purpose) },
          { head: "Result", cell: ({ report }) => (report === null ? "not readable" : report.outcome) },
          { head: "Code", cell: ({ report }) => report?.code, isMinor: true },
          { head: "Receipt", cell: ({ report }) => report?.receipt, isMinor: true },
          { head: "Phone", cell: ({ report }) => report?.masked_phone_number, isMinor: true },
          { head: "KES", cell: ({ report }) => <Money>{report?.amount ?? null}</Money>, isMoney: true },
        ]}
        rows={payment.messages}
        empty="The rail has sent no message."
      />
    </>
  );
}

function timesText(count: number): string {
  return count === 1 ? "once" : `${count.toLocaleString("en")} times`;
}

/** The acts that are possible as the transaction is now. */
function actsOf(row: Transaction, payment: HeadProps["payment"]): Parameters<typeof Acts>[0]["acts"] {
  const { id: transaction_id, status, rail, created_at, needs_attention } = row;
  const { deposit_id, reversed_by_transaction_id, corrects_transaction_id } = row;
  const { open_flags: flags = [], held_reason: held = null } = payment.ok ? payment.value.payment : {};
  const about = { transaction_id };
  const isLinked = [deposit_id, reversed_by_transaction_id, corrects_transaction_id].some((id) => id !== null);
  // The rail ends most payments by itself. What a person says too early may be wrong.
  const mayResolve = needs_attention || Date.now() - Date.parse(created_at) > RAIL_MILLIS_USUAL;
  const isReversible = status === "completed" && rail === "direct" && !isLinked;
  return [
    ...(row.held_for.length > 0 ? [["release", about] as const, ["refuse", about] as const] : []),
    ...(status === "pending" && rail !== "direct" ? [["cancel", about] as const] : []),
    ...(held === null ? [] : [["open-payouts", { rail }] as const]),
    ...(isReversible ? [["reverse", about] as const] : []),
    ...(status === "processing" && mayResolve ? RESOLUTIONS.map((name) => [name, about] as const) : []),
    ...(status === "processing" ? [] : flags.map((flag) => ["clear-flag", { ...about, flag }] as const)),
  ];
}

/** GetOverview counts a payment as open for long after the same time. */
const RAIL_MILLIS_USUAL = 3_600_000;
const RESOLUTIONS = ["completed", "failed", "moved"];
