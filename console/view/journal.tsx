import type { VNode } from "preact";

import type { JournalEntry } from "../gen/messages.js";
import { type Visit, within } from "../page.js";
import { Link } from "./link.js";
import { type Column, Table } from "./parts.js";
import { Id, Money, Text, Time, words } from "./values.js";

/** Who made a row: the names of operators, or what the book has. */
export function Actor({ entry: { line, operator_names } }: { readonly entry: JournalEntry }): VNode {
  if (operator_names.length > 0) return <Text>{operator_names.join(", approved by ")}</Text>;
  if (line.actor === "operator") return <>a command on the database</>;
  return /^[a-z]{3}_[0-9a-z]{26}$/.test(line.actor) ? <Id>{line.actor}</Id> : <Text>{line.actor}</Text>;
}

/** Which accounts of the book a row debits and credits. */
export function Posting({ entry: { line } }: { readonly entry: JournalEntry }): VNode {
  if (line.debit_account === null || line.credit_account === null) return <span class="none">–</span>;
  return (
    <>
      {line.debit_account} → {line.credit_account}
    </>
  );
}

type Subject = "account" | "transaction" | "posting";

interface JournalTableProps {
  readonly visit: Visit;
  readonly entries: readonly JournalEntry[];
  /** What the page is about already: such a column is left out. */
  readonly without?: readonly Subject[];
  readonly empty: string;
}

/** Rows of the book, newest first. */
export function JournalTable({ visit, entries, without = [], empty }: JournalTableProps): VNode {
  const columns: readonly (Column<JournalEntry> & { readonly of?: Subject })[] = [
    {
      head: "Row",
      cell: ({ line }) => <RowLink visit={visit} sequence={line.sequence} />,
    },
    { head: "When", cell: ({ line }) => <Time>{line.recorded_at}</Time> },
    { head: "What", cell: ({ line }) => words(line.type) },
    { head: "Who", cell: (entry) => <Actor entry={entry} />, isMinor: true },
    {
      head: "Account",
      of: "account",
      isMinor: true,
      cell: ({ line }) => <Short visit={visit} id={line.account_id} />,
    },
    {
      head: "Transaction",
      of: "transaction",
      isMinor: true,
      cell: ({ line }) => <Short visit={visit} id={line.transaction_id} />,
    },
    { head: "Reason", cell: ({ line }) => line.note, isMinor: true },
    { head: "Debit → credit", of: "posting", cell: (entry) => <Posting entry={entry} />, isMinor: true },
    { head: "KES", of: "posting", cell: ({ line }) => <Money>{line.amount}</Money>, isMoney: true },
  ];
  const shown = columns.filter(({ of }) => of === undefined || !without.includes(of));
  return <Table columns={shown} rows={entries} empty={empty} />;
}

export function RowLink({ visit, sequence }: { readonly visit: Visit; readonly sequence: number }): VNode {
  return <Link to={within(visit, `/journal/row-${String(sequence)}`)}>#{sequence.toLocaleString("en")}</Link>;
}

const FOLDERS: Readonly<Record<string, string>> = {
  acc: "accounts",
  txn: "transactions",
  dep: "deposits",
  whe: "webhooks",
};

/** Returns the path of the page of an account, a transaction, a deposit or a webhook endpoint. */
export function pathOfId(visit: Visit, id: string): string {
  return within(visit, `/${FOLDERS[id.slice(0, 3)] ?? ""}/${id}`);
}

/** The beginning and the end of an id, as a link if it has a page. */
export function Short({ visit, id }: { readonly visit: Visit; readonly id: string | null }): VNode {
  if (id === null) return <span class="none">–</span>;
  const short = `${id.slice(0, 4)}…${id.slice(-4)}`;
  if (FOLDERS[id.slice(0, 3)] === undefined) return <Id>{short}</Id>;
  return (
    <Link to={pathOfId(visit, id)} class="id">
      {short}
    </Link>
  );
}
