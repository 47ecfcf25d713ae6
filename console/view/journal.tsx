import type { VNode } from "preact";

import type { JournalEntry } from "../gen/messages.js";
import { type Visit, within } from "../page.js";
import { Link } from "./link.js";
import { type Column, Table } from "./parts.js";
import { Brief, BriefTime, Id, Money, Text, words } from "./values.js";

interface ActorProps {
  readonly entry: JournalEntry;
  /** Whether it stands on one line. */
  readonly isBrief?: true;
}

/** Who made a row: the names of operators, or what the book has. */
export function Actor({ entry: { line, operator_names }, isBrief }: ActorProps): VNode {
  const names = operator_names.join(", approved by ");
  if (names !== "") return isBrief ? <Brief most={26}>{names}</Brief> : <Text>{names}</Text>;
  if (line.actor === "operator") return <>a command on the database</>;
  if (!/^[a-z]{3}_[0-9a-z]{26}$/.test(line.actor)) return <Text>{line.actor}</Text>;
  return <Id>{isBrief ? shortOf(line.actor) : line.actor}</Id>;
}

/** Which accounts of the book a row debits and credits, or else what it says of the reserve. */
export function Posting({ entry: { line } }: { readonly entry: JournalEntry }): VNode {
  if (line.debit_account === null || line.credit_account === null) {
    const said = [line.place, line.direction, line.stated_amount].filter((word) => word !== null).join(" ");
    return said === "" ? <span class="none">–</span> : <Brief most={26}>{said}</Brief>;
  }
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

/** The columns of rows of the book. */
export function journalColumns(visit: Visit): readonly (Column<JournalEntry> & { readonly of?: Subject })[] {
  return [
    {
      head: "Row",
      isTitle: true,
      cell: ({ line }) => <RowLink visit={visit} sequence={line.sequence} />,
    },
    { head: "When", cell: ({ line }) => <BriefTime>{line.recorded_at}</BriefTime> },
    { head: "What", cell: ({ line }) => words(line.type) },
    { head: "Who", name: "who", cell: (entry) => <Actor entry={entry} isBrief /> },
    {
      head: "Account",
      name: "account",
      of: "account",
      isMinor: true,
      cell: ({ line }) => <Short visit={visit} id={line.account_id} />,
    },
    {
      head: "Transaction",
      name: "transaction",
      of: "transaction",
      isMinor: true,
      cell: ({ line }) => <Short visit={visit} id={line.transaction_id} />,
    },
    {
      head: "Reason",
      name: "reason",
      cell: ({ line }) => (line.note === null ? null : <Brief most={24}>{line.note}</Brief>),
      isMinor: true,
    },
    {
      head: "Debit → credit",
      name: "posting",
      of: "posting",
      cell: (entry) => <Posting entry={entry} />,
      isMinor: true,
    },
    { head: "KES", of: "posting", cell: ({ line }) => <Money>{line.amount}</Money>, isMoney: true },
  ];
}

/** Rows of the book, newest first. */
export function JournalTable({ visit, entries, without = [], empty }: JournalTableProps): VNode {
  const shown = journalColumns(visit).filter(({ of }) => of === undefined || !without.includes(of));
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

function shortOf(id: string): string {
  return `${id.slice(0, 4)}…${id.slice(-4)}`;
}

/** The beginning and the end of an id, as a link if it has a page. */
export function Short({ visit, id }: { readonly visit: Visit; readonly id: string | null }): VNode {
  if (id === null) return <span class="none">–</span>;
  const short = shortOf(id);
  if (FOLDERS[id.slice(0, 3)] === undefined) return <Id>{short}</Id>;
  return (
    <Link to={pathOfId(visit, id)} class="id">
      {short}
    </Link>
  );
}
