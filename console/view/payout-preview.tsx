import type { VNode } from "preact";

import type { PayoutRemark, PayoutsPreview, PayoutTotal } from "../gen/messages.js";
import { countOf } from "./lists.js";
import { type Column, FigureList, Table } from "./parts.js";
import { Id, Money } from "./values.js";

const TOTALS: readonly Column<PayoutTotal>[] = [
  { head: "Paid to", cell: ({ kind }) => kind },
  { head: "Rows", cell: ({ count }) => count.toLocaleString("en") },
  { head: "KES", cell: ({ amount }) => <Money>{amount}</Money>, isMoney: true },
];

/** What a file of payouts would pay: the same for who proposes it and for who approves it. */
export function PayoutPreview({ preview }: { readonly preview: PayoutsPreview }): VNode {
  const { sha256, rail, count, amount, totals, left_out, errors, warned, warnings } = preview;
  return (
    <>
      <FigureList figures={[[`Paid over ${rail}`, amount, countOf(count, "row")]]} />
      <Table columns={TOTALS} rows={totals} empty="No row can be paid." />
      <h3>Rows with an error, which are not paid</h3>
      <Remarks head="What is wrong" count={left_out} rows={errors} empty="No row has an error." />
      <h3>Rows to look at, which are paid</h3>
      <Remarks head="Why" count={warned} rows={warnings} empty="No row is a double, or goes to another network." />
      <p>
        <small>
          SHA-256 of the file: <Id>{sha256}</Id>
        </small>
      </p>
    </>
  );
}

interface RemarksProps {
  readonly head: string;
  readonly count: number;
  /** The first of them. */
  readonly rows: readonly PayoutRemark[];
  readonly empty: string;
}

function Remarks({ head, count, rows, empty }: RemarksProps): VNode {
  const columns: readonly Column<PayoutRemark>[] = [
    { head: "Line", cell: ({ line }) => line.toLocaleString("en") },
    { head, cell: ({ text }) => text },
  ];
  return (
    <>
      <Table columns={columns} rows={rows} empty={empty} />
      {count > rows.length ? <p>And {(count - rows.length).toLocaleString("en")} more.</p> : null}
    </>
  );
}
