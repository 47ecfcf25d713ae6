import { Acts } from "../acts/act-links.js";
import { Standing, standingOf } from "../acts/standing.js";
import type { Page } from "../page.js";
import { Short } from "../view/journal.js";
import { ReceiptOf } from "../view/lists.js";
import { Facts, Refused } from "../view/parts.js";
import { Id, moneyText, Status, Time } from "../view/values.js";

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
    const { deposit } = reading.value;
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
              Rail: deposit.rail,
              Payer: deposit.masked_payer_phone_number,
              "Typed as account number": deposit.typed_reference,
              Account: deposit.account_id === null ? null : <Short visit={visit} id={deposit.account_id} />,
              Transaction: deposit.transaction_id === null ? null : <Short visit={visit} id={deposit.transaction_id} />,
              Paid: deposit.paid_at === null ? null : <Time>{deposit.paid_at}</Time>,
              Received: <Time>{deposit.created_at}</Time>,
            }}
          />
          <Standing visit={visit} reading={standing} />
          <Acts visit={visit} acts={(ACTS[deposit.status] ?? []).map((name) => [name, { deposit_id }])} />
        </>
      ),
    };
  },
};

/** The acts that are possible, by the status of the deposit. */
const ACTS: Readonly<Record<string, readonly string[]>> = {
  unallocated: ["assign", "return", "reverse-deposit"],
  returning: ["reverse-deposit"],
  credited: ["unassign", "reverse-deposit"],
};
