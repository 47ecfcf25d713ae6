import type { VNode } from "preact";

import type { Payment, RailAccount, RailReport, Transaction } from "../gen/messages.js";
import { type Visit, within } from "../page.js";
import type { Reading } from "../upstream/upstream.js";
import { Link } from "./link.js";
import { Table } from "./parts.js";
import { Age, Money, Status, Text, Time, timeText, words } from "./values.js";

/** What to do about a flag, and about one of a transaction that has ended. The acts stand below. */
const TO_DO: Readonly<Record<string, readonly [open: string, ended: string]>> = {
  outcome_unknown: [
    "Look the payment up in the rail's statement. If it is there, mark it as completed with its receipt. If the rail says that it has no such payment and never will, mark it as failed.",
    "The outcome is known now. Clear the flag.",
  ],
  report_differs: [
    "Compare both columns with the rail's statement. If the ordered amount moved, mark the payment as completed. If another amount moved, record that amount. If nothing moved, mark it as failed.",
    "Compare both columns with the rail's statement. If the statement agrees with the transaction, clear the flag. If not, correct the book with kesc book adjust first.",
  ],
  report_without_order: [
    "Look the movement up in the rail's statement. If it is there, mark the payment as completed with its receipt.",
    "Look the movement up in the rail's statement. If it is there, record a deposit with kesc deposit record, or book what went out with kesc book paid. Then clear the flag.",
  ],
  receipt_already_used: [
    "Search for the receipt above to see the other transaction. Ask the rail which payment has it, then mark this one as completed with its own receipt, or as failed.",
    "Search for the receipt above to see the other transaction. Ask the rail which payment has it, then clear the flag.",
  ],
  not_credited: [
    "The shillings came in. Make the account able to take them, such as by lifting a freeze, and mark the payment as completed. Or return them, and mark it as failed.",
    "The shillings came in, and the book has them for nobody. Give them to an account with kesc book allocate, or note with kesc book return that they went back. Then clear the flag.",
  ],
  failed_after_completion: [
    "Look the payment up in the rail's statement.",
    "Look the payment up in the rail's statement. If it moved, clear the flag. If not, correct the book with kesc book adjust first.",
  ],
};

interface ReviewProps {
  readonly visit: Visit;
  readonly row: Transaction;
  /** Undefined: it could not be read. */
  readonly payment: Payment | undefined;
}

/** Why a person must look, with what was ordered beside what the rail reported. */
export function Review({ visit, row, payment }: ReviewProps): VNode | null {
  if (!row.needs_attention || (row.held_for.length > 0 && payment?.open_flags.length === 0)) return null;
  const ended = row.status === "pending" || row.status === "processing" ? 0 : 1;
  const flags = payment?.open_flags ?? [];
  return (
    <div class="verdict bad">
      <h2>Needs review{flags.length === 0 ? "" : `: ${flags.map(words).join(", ")}`}</h2>
      {flags.map((flag) => (
        <div key={flag}>
          <p>{visit.meaningOf("FlagReason", flag)}</p>
          <p>
            <strong>What to do:</strong> {TO_DO[flag]?.[ended] ?? ""}
          </p>
        </div>
      ))}
      {payment === undefined ? null : <Told payment={payment} />}
      {payment === undefined ? null : <Compared row={row} payment={payment} />}
    </div>
  );
}

/** What the rail told first, and whether it has called the payment a success. */
export function Told({
  payment: { last_code_meaning: meaning, open_flags: flags, messages },
}: {
  readonly payment: Payment;
}): VNode {
  const isCalled = flags.includes("outcome_unknown") && messages.some(({ report }) => report?.outcome === "moved");
  return (
    <>
      {meaning === null ? null : (
        <p>
          The rail told: <Text>{meaning}</Text>
        </p>
      )}
      {isCalled ? (
        <p>
          <strong>Perhaps paid.</strong> The rail reported a success that no query confirms. Look in its statement for
          the amount, the party and the time below.
        </p>
      ) : null}
    </>
  );
}

const REPORTS_SHOWN = 3;

/** What was ordered, and beside it the newest three different reports of the rail. */
function Compared({ row, payment }: { readonly row: Transaction; readonly payment: Payment }): VNode {
  const told = payment.messages.flatMap(({ report, received_at }) =>
    report === null ? [] : [{ report, received_at }],
  );
  const keys = told.map(({ report }) => JSON.stringify(report));
  const reports = told.filter((_, index) => keys.indexOf(keys[index] ?? "") === index).slice(-REPORTS_SHOWN);
  if (reports.length === 0) return <p>The rail has sent no report. Compare with its statement.</p>;
  const phone = payment.masked_phone_number === "" ? null : payment.masked_phone_number;
  const rows: readonly Compare[] = [
    {
      name: "Amount, KES",
      ordered: row.amount,
      reported: ({ amount }) => amount,
      shown: (amount) => <Money>{amount}</Money>,
    },
    { name: "Phone", ordered: phone, reported: ({ masked_phone_number }) => masked_phone_number },
    { name: "Receipt", ordered: row.rail_receipt, reported: ({ receipt }) => receipt },
    { name: "Outcome", reported: ({ outcome, code }) => [outcome, code ?? ""].join(" ").trim() },
  ];
  return (
    <div class="narrow">
      <Table
        columns={[
          { head: "What", cell: ({ name }) => name },
          { head: "Ordered", cell: ({ ordered = null, shown = textOf }) => (ordered === null ? NONE : shown(ordered)) },
          ...reports.map(({ report, received_at: at }) => ({
            head: `Reported ${timeText(new Date(at))}`,
            cell: ({ ordered = null, reported, shown = textOf }: Compare) => {
              const text = reported(report);
              if (text === null) return NONE;
              return (
                <>
                  {shown(text)} {ordered === null || ordered === text ? null : <Status tone="bad">differs</Status>}
                </>
              );
            },
          })),
        ]}
        rows={rows}
        empty=""
      />
    </div>
  );
}

interface Compare {
  readonly name: string;
  /** Null or absent: the order has none. */
  readonly ordered?: string | null;
  readonly reported: (report: RailReport) => string | null;
  readonly shown?: (text: string) => VNode;
}

const NONE = <span class="none">none</span>;

function textOf(text: string): VNode {
  return <Text>{words(text)}</Text>;
}

/** Why a person must release a payout. */
export function Waiting({ visit, row }: Pick<ReviewProps, "visit" | "row">): VNode | null {
  const { held_for: reasons, created_at } = row;
  if (reasons.length === 0) return null;
  return (
    <div class="verdict wait">
      <h2>This payout waits for a person</h2>
      {reasons.map((reason) => (
        <p key={reason}>{visit.meaningOf("HoldReason", reason)}</p>
      ))}
      <p>
        It waits since <Time>{created_at}</Time>, <Age since={created_at} /> so far. Release or refuse it. Who proposed
        its file of payouts may not.
      </p>
    </div>
  );
}

interface HeldProps {
  readonly visit: Visit;
  readonly row: Transaction;
  readonly reason: string;
  readonly accounts: Reading<{ readonly rail_accounts: readonly RailAccount[] }> | undefined;
}

/** Why a payout does not begin, since when, and who can open payouts. */
export function Held({ visit, row, reason, accounts }: HeldProps): VNode {
  const account =
    accounts?.ok === true ? accounts.value.rail_accounts.find(({ rail }) => rail === row.rail) : undefined;
  return (
    <div class="verdict wait">
      <h2>This payout is held: {words(reason)}</h2>
      <p>
        {visit.meaningOf("HeldReason", reason)} It waits since <Time>{row.created_at}</Time>,{" "}
        <Age since={row.created_at} /> so far.
      </p>
      {account === undefined ? null : (
        <p>
          Payouts on {account.rail} are set to {account.payouts}, and the account was last changed on{" "}
          <Time>{account.updated_at}</Time>
          {account.payouts_note === null ? null : (
            <>
              : <Text>{account.payouts_note}</Text>
            </>
          )}
          .
        </p>
      )}
      <p>
        To open payouts takes the role finance or admin.
        {reason === "outcomes_unknown" ? (
          <>
            {" "}
            <Link to={within(visit, "/attention")}>Payments with an unknown outcome</Link>
          </>
        ) : null}
      </p>
    </div>
  );
}
