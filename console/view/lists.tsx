import type { VNode } from "preact";

import type { Account, Deposit, Transaction } from "../gen/messages.js";
import type { Visit } from "../page.js";
import type { OfCustomer, RowsPage } from "../upstream/rows.js";
import type { Reading } from "../upstream/upstream.js";
import { listPath, moreOf, shownIn } from "./filters.js";
import { pathOfId, Short } from "./journal.js";
import { Link } from "./link.js";
import { type Column, More, Section, Table, type Total } from "./parts.js";
import { Age, Brief, BriefTime, Money, Status, sumOf, Text, words } from "./values.js";

interface ListProps<Row> {
  readonly visit: Visit;
  readonly rows: readonly Row[];
  readonly empty: string;
}

interface ListPageProps<Row> {
  readonly visit: Visit;
  readonly reading: Reading<RowsPage<Row>>;
  readonly columns: readonly Column<Row>[];
  readonly totalsOf: (rows: readonly Row[]) => readonly Total[];
  readonly empty: string;
  /** The personal data in a file of the list. */
  readonly holds: string;
}

/** A list with a page of its own: its rows, their totals, the next page, and all rows as a file. */
export function ListPage<Row>({ visit, reading, columns, totalsOf, empty, holds }: ListPageProps<Row>): VNode {
  const { path, query } = visit;
  return (
    <Section title="Newest first" reading={reading} retry={listPath(path, query, {})}>
      {({ rows, next }) => (
        <>
          {rows.length === 0 && next !== null ? null : (
            <Table columns={shownIn(query, columns)} rows={rows} empty={empty} totals={totalsOf(rows)} />
          )}
          <More to={moreOf(path, query, next)} isEmpty={rows.length === 0} />
          <p class="export">
            <Link to={listPath(`${path}.csv`, query, { page: "", hide: "" })}>Export as CSV</Link>{" "}
            <small>
              All rows of this filter, 10,000 at most. The sums above are those of this page. Personal data in the file:{" "}
              {holds}. The console’s log notes who exports how many rows.
            </small>
          </p>
        </>
      )}
    </Section>
  );
}

/** The user_id of a row, or the account's id if that was erased or could not be read. */
export function Customer({
  visit,
  row: { account_id: id, user_id },
}: {
  readonly visit: Visit;
  readonly row: OfCustomer<{ readonly account_id: string | null }>;
}): VNode {
  if (id === null || user_id === undefined || user_id === null) return <Short visit={visit} id={id} />;
  return (
    <Link to={pathOfId(visit, id)}>
      <Brief>{user_id}</Brief>
    </Link>
  );
}

interface TransactionColumnsProps {
  readonly visit: Visit;
  readonly hasAge?: boolean;
  /** Why a person must look, by the id of the payment. */
  readonly flags?: ReadonlyMap<string, readonly string[]> | undefined;
  readonly hasAccount?: boolean;
}

export function transactionColumns({
  visit,
  hasAge = false,
  hasAccount = true,
  flags,
}: TransactionColumnsProps): readonly Column<OfCustomer<Transaction>>[] {
  return [
    hasAge
      ? { head: "Open for", cell: ({ created_at }) => <Age since={created_at} /> }
      : { head: "When", cell: ({ created_at }) => <BriefTime>{created_at}</BriefTime> },
    {
      head: "Payment",
      isTitle: true,
      cell: ({ id, type, correction }) => (
        <Link to={pathOfId(visit, id)}>
          {type}
          {correction === null ? "" : `, ${correction}`} …{id.slice(-4)}
        </Link>
      ),
    },
    {
      head: "Status",
      cell: (row) => (
        <>
          <Status>{row.status}</Status>{" "}
          {row.needs_attention && flags === undefined ? <Status tone="bad">needs attention</Status> : null}
        </>
      ),
    },
    ...(flags === undefined
      ? []
      : [
          {
            head: "Why",
            // Each of them needs a person. The page of the payment explains the flag.
            cell: (row: Transaction) => needWords(row, flags.get(row.id)),
          },
        ]),
    ...(hasAccount
      ? [
          {
            head: "Customer",
            name: "customer",
            cell: (row: OfCustomer<Transaction>) => <Customer visit={visit} row={row} />,
          },
        ]
      : []),
    { head: "Rail", name: "rail", cell: ({ rail }) => rail, isMinor: true },
    { head: "Reference", name: "reference", cell: ({ reference }) => <Brief>{reference}</Brief>, isMinor: true },
    { head: "Receipt", name: "receipt", cell: (row) => <ReceiptOf row={row} isBrief />, isMinor: true },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
}

export function TransactionList({
  visit,
  rows,
  empty,
  ...props
}: ListProps<OfCustomer<Transaction>> & TransactionColumnsProps): VNode {
  return <Table columns={transactionColumns({ visit, ...props })} rows={rows} empty={empty} />;
}

/** Why the payment needs a person. */
export function needWords({ held_for: held }: Transaction, flags: readonly string[] = []): string {
  return [...flags.map(words), ...held.map((reason) => `held: ${words(reason)}`)].join(", ");
}

/** What was minted and redeemed, and what did not move money or has not yet. */
export function transactionTotals(rows: readonly Transaction[]): readonly Total[] {
  const done = rows.filter(({ status }) => status === "completed");
  const groups = {
    Minted: done.filter(({ type }) => type === "mint"),
    Redeemed: done.filter(({ type }) => type === "redeem"),
    "Not completed": rows.filter(({ status }) => status !== "completed"),
  };
  return Object.entries(groups).flatMap(([name, group]) => (group.length === 0 ? [] : [totalOf(name, group)]));
}

function totalOf(name: string, rows: readonly { readonly amount: string }[], one = "payment"): Total {
  return { name: `${name}: ${countOf(rows.length, one)}`, amount: sumOf(rows.map(({ amount }) => amount)) };
}

export function countOf(count: number, one: string): string {
  return `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;
}

interface ReceiptProps {
  readonly row: Pick<Transaction, "rail_receipt" | "receipt">;
  /** Whether it stands on one line. */
  readonly isBrief?: true;
}

/** The proof of a movement: that of the rail, or that of the caller with its source. */
export function ReceiptOf({ row, isBrief }: ReceiptProps): VNode {
  const text = receiptText(row);
  if (text === null) return <span class="none">none</span>;
  return isBrief ? <Brief>{text}</Brief> : <Text>{text}</Text>;
}

export function receiptText({ rail_receipt, receipt }: Pick<Transaction, "rail_receipt" | "receipt">): string | null {
  if (rail_receipt !== null || receipt === null) return rail_receipt;
  return receipt.source === "mpesa" ? receipt.number : `${receipt.source}:${receipt.number}`;
}

export function accountColumns(visit: Visit): readonly Column<Account>[] {
  return [
    {
      head: "Account",
      isTitle: true,
      cell: ({ id, user_id }) => (
        <Link to={pathOfId(visit, id)}>{user_id === null ? id : <Brief most={32}>{user_id}</Brief>}</Link>
      ),
    },
    { head: "Status", cell: ({ status }) => <Status>{status}</Status> },
    { head: "Tier", name: "tier", cell: ({ tier }) => tier, isMinor: true },
    { head: "Phone", name: "phone", cell: ({ phone_number }) => phone_number, isMinor: true },
    {
      head: "E-mail",
      name: "email",
      cell: ({ email }) => (email === null ? null : <Brief most={28}>{email}</Brief>),
      isMinor: true,
    },
    {
      head: "Last change",
      name: "changed",
      cell: ({ updated_at }) => <BriefTime>{updated_at}</BriefTime>,
      isMinor: true,
    },
    { head: "Available KESC", cell: ({ available_balance }) => <Money>{available_balance}</Money>, isMoney: true },
  ];
}

export function AccountList({ visit, rows, empty }: ListProps<Account>): VNode {
  return <Table columns={accountColumns(visit)} rows={rows} empty={empty} />;
}

export function accountTotals(rows: readonly Account[]): readonly Total[] {
  const amount = sumOf(rows.map(({ available_balance }) => available_balance));
  return [{ name: countOf(rows.length, "account"), amount }];
}

interface DepositColumnsProps {
  readonly visit: Visit;
  /** Whether the list has deposits that wait for nobody. */
  readonly hasAll?: boolean;
}

export function depositColumns({ visit, hasAll = false }: DepositColumnsProps): readonly Column<OfCustomer<Deposit>>[] {
  return [
    hasAll
      ? { head: "Received", cell: ({ created_at }) => <BriefTime>{created_at}</BriefTime> }
      : { head: "Waiting for", cell: ({ created_at }) => <Age since={created_at} /> },
    {
      head: "Deposit",
      isTitle: true,
      cell: (row) => (
        <Link to={pathOfId(visit, row.id)}>
          <ReceiptOf row={row} isBrief />
        </Link>
      ),
    },
    ...(hasAll ? [{ head: "Status", cell: ({ status }: Deposit) => <Status>{status}</Status> }] : []),
    { head: "Why", name: "why", cell: ({ reason, status }) => words(reason ?? (hasAll ? "" : status)) },
    ...(hasAll
      ? [
          {
            head: "Customer",
            name: "customer",
            cell: (row: OfCustomer<Deposit>) => <Customer visit={visit} row={row} />,
          },
        ]
      : []),
    { head: "Payer", name: "payer", cell: ({ masked_payer_phone_number: phone }) => phone, isMinor: true },
    {
      head: "Account number",
      name: "typed",
      cell: ({ typed_reference: typed }) => (typed === null ? null : <Brief>{typed}</Brief>),
      isMinor: true,
    },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
}

export function DepositList({ visit, rows, empty }: ListProps<Deposit>): VNode {
  return <Table columns={depositColumns({ visit })} rows={rows} empty={empty} />;
}

/** What each status has. */
export function depositTotals(rows: readonly Deposit[]): readonly Total[] {
  const statuses = [...new Set(rows.map(({ status }) => status))].sort();
  return statuses.map((status) =>
    totalOf(
      words(status),
      rows.filter((row) => row.status === status),
      "deposit",
    ),
  );
}
