import type { VNode } from "preact";

import type { Account, Deposit, Transaction } from "../gen/messages.js";
import type { Visit } from "../page.js";
import { pathOfId, Short } from "./journal.js";
import { Link } from "./link.js";
import { type Column, Table } from "./parts.js";
import { Age, Money, Status, Text, Time, words } from "./values.js";

interface ListProps<Row> {
  readonly visit: Visit;
  readonly rows: readonly Row[];
  readonly empty: string;
}

interface TransactionListProps extends ListProps<Transaction> {
  readonly hasAge?: boolean;
  /** Why a person must look, by the id of the payment. */
  readonly flags?: ReadonlyMap<string, readonly string[]>;
  readonly hasAccount?: boolean;
}

export function TransactionList(props: TransactionListProps): VNode {
  const { visit, rows, empty, hasAge = false, hasAccount = true, flags } = props;
  const columns: readonly Column<Transaction>[] = [
    hasAge
      ? { head: "Open for", cell: ({ created_at }) => <Age since={created_at} /> }
      : { head: "When", cell: ({ created_at }) => <Time>{created_at}</Time> },
    {
      head: "Payment",
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
            cell: ({ id }: Transaction) => flags.get(id)?.map(words).join(", "),
          },
        ]),
    { head: "Rail", cell: ({ rail }) => rail, isMinor: true },
    ...(hasAccount
      ? [
          {
            head: "Account",
            cell: ({ account_id }: Transaction) => <Short visit={visit} id={account_id} />,
            isMinor: true as const,
          },
        ]
      : []),
    { head: "Reference", cell: ({ reference }) => reference, isMinor: true },
    { head: "Receipt", cell: (row) => <ReceiptOf row={row} />, isMinor: true },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
  return <Table columns={columns} rows={rows} empty={empty} />;
}

/** The proof of a movement: that of the rail, or that of the caller with its source. */
export function ReceiptOf({ row }: { readonly row: Pick<Transaction, "rail_receipt" | "receipt"> }): VNode {
  if (row.rail_receipt !== null) return <Text>{row.rail_receipt}</Text>;
  if (row.receipt === null) return <span class="none">none</span>;
  const { source, number } = row.receipt;
  return <Text>{source === "mpesa" ? number : `${source}:${number}`}</Text>;
}

export function AccountList({ visit, rows, empty }: ListProps<Account>): VNode {
  const columns: readonly Column<Account>[] = [
    {
      head: "Account",
      cell: ({ id, user_id }) => <Link to={pathOfId(visit, id)}>{user_id === null ? id : <Text>{user_id}</Text>}</Link>,
    },
    { head: "Status", cell: ({ status }) => <Status>{status}</Status> },
    { head: "Phone", cell: ({ phone_number }) => phone_number, isMinor: true },
    { head: "E-mail", cell: ({ email }) => email, isMinor: true },
    { head: "Last change", cell: ({ updated_at }) => <Time>{updated_at}</Time>, isMinor: true },
    { head: "Available KESC", cell: ({ available_balance }) => <Money>{available_balance}</Money>, isMoney: true },
  ];
  return <Table columns={columns} rows={rows} empty={empty} />;
}

export function DepositList({ visit, rows, empty }: ListProps<Deposit>): VNode {
  const columns: readonly Column<Deposit>[] = [
    { head: "Waiting for", cell: ({ created_at }) => <Age since={created_at} /> },
    {
      head: "Deposit",
      cell: (row) => (
        <Link to={pathOfId(visit, row.id)}>
          <ReceiptOf row={row} />
        </Link>
      ),
    },
    { head: "Why", cell: ({ reason, status }) => words(reason ?? status) },
    { head: "Payer", cell: ({ masked_payer_phone_number: phone }) => phone, isMinor: true },
    {
      head: "Account number",
      cell: ({ typed_reference: typed }) => typed,
      isMinor: true,
    },
    { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
  ];
  return <Table columns={columns} rows={rows} empty={empty} />;
}
