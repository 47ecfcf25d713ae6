import type { VNode } from "preact";

import type { StatementDifference } from "../gen/messages.js";
import type { Visit } from "../page.js";
import { lessOf } from "../view/values.js";
import type { Given } from "./act.js";
import { ActLink } from "./act-links.js";

/** The forms that end a difference, filled in. The comparison stays open: it has no URL. */
export function Remedies({ visit, row }: { readonly visit: Visit; readonly row: StatementDifference }): VNode {
  const links = row.remedies.flatMap((remedy) => FORMS[remedy]?.(row) ?? []);
  if (links.length === 0)
    return <span class="none">{row.is_charge ? "book it with the command" : "ask the rail"}</span>;
  return (
    <>
      {links.map(([name, words, linked], index) => (
        <span key={name}>
          {index === 0 ? "" : " · "}
          <ActLink visit={visit} name={name} linked={linked} isApart>
            {words}
          </ActLink>
        </span>
      ))}
    </>
  );
}

type Form = readonly [act: string, words: string, linked: Given];

function directed(decimal: string): Given {
  return decimal.startsWith("-")
    ? { direction: "out", amount: decimal.slice(1) }
    : { direction: "in", amount: decimal };
}

/** The forms of each remedy, with what the row says. */
const FORMS: Readonly<Record<string, (row: StatementDifference) => readonly Form[]>> = {
  ResolveTransaction: ({ transaction_id, receipt, on_rail }) => {
    const found = { transaction_id: transaction_id ?? "", rail_receipt: receipt ?? "" };
    return [
      ["completed", "It moved", found],
      ["moved", "Another amount", { ...found, amount: directed(on_rail?.amount ?? "")["amount"] ?? "" }],
    ];
  },
  RecordDeposit: ({ receipt, on_rail, account_id }) => [
    [
      "record-deposit",
      "Record deposit",
      { receipt: receipt ?? "", amount: on_rail?.amount ?? "", account_id: account_id ?? "" },
    ],
  ],
  ExplainTransfer: ({ receipt, on_rail }) => [
    ["transfer", "Explain transfer", { rail_receipt: receipt ?? "", ...directed(on_rail?.amount ?? "") }],
  ],
  BookPayment: ({ receipt, on_rail, account_id }) => [
    [
      "paid",
      "Book payment",
      {
        rail_receipt: receipt ?? "",
        amount: directed(on_rail?.amount ?? "")["amount"] ?? "",
        account_id: account_id ?? "",
      },
    ],
  ],
  AdjustMovement: ({ receipt, transaction_id, account_id, on_rail, booked }) => [
    [
      "adjust",
      "Adjust movement",
      {
        movement: receipt ?? transaction_id ?? "",
        account_id: account_id ?? "",
        ...directed(lessOf(on_rail?.amount ?? "0", booked?.amount ?? "0")),
      },
    ],
  ],
};
