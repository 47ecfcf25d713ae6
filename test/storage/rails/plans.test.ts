import { expect } from "chai";

import { DESTINATION_KINDS } from "../../../src/domain/destination.js";
import type { Payments } from "../../../src/settlement/ports/payments.js";
import type { Cell } from "../../../src/storage/database.js";
import { railInbox } from "../../../src/storage/rails/inbox.js";
import { payments } from "../../../src/storage/rails/payments.js";
import { ENGINES } from "../../support/databases.js";
import { newTransactionId } from "../../support/names.js";
import { heardPlans, NO_SORTS } from "../plans/heard-plans.js";
import { PaymentsPlace, RAIL_ACCOUNT } from "./given-payments.js";

const DEAR = {
  // Groups by the kinds of numbers, which are three.
  sqlite: /TEMP B-TREE(?! FOR GROUP BY)|^SCAN (?!a\b)/,
  postgres: /Seq Scan(?! on rail_accounts)|Bitmap Heap Scan|Sort(?! Key)|Hash Join|Merge Join/,
};

const NEW_PAYOUTS = "payments_new_payouts";
const OTHER_OPEN = "payments_other_open";

/** A read or write with the indexes that it goes along. */
type Way = readonly [call: (stored: Payments) => Promise<unknown>, ...indexes: string[]];

for (const engine of ENGINES) {
  describe(`the plans of the settlement's queries (${engine})`, () => {
    let place: PaymentsPlace;
    before(async () => {
      place = await PaymentsPlace.make(engine);
    });
    after(() => place.opened.dispose());

    /** The plans of the statements that `work` runs, whether they read or write. */
    async function plansOf(work: (cell: Cell) => Promise<unknown>): Promise<readonly string[]> {
      return (await heardPlans(place.opened, work, NO_SORTS)).flat();
    }

    const { now, limit } = { now: 5 as never, limit: 10 };
    const id = newTransactionId();
    // A method without a line here does not compile.
    const METHODS = {
      accountsWithDue: [(stored) => stored.accountsWithDue(now), NEW_PAYOUTS, OTHER_OPEN],
      due: [(stored) => stored.due(RAIL_ACCOUNT, { now, limit, payOutTo: DESTINATION_KINDS }), NEW_PAYOUTS, OTHER_OPEN],
      payment: [(stored) => stored.payment(id), "payments_pkey"],
      reschedule: [
        (stored) =>
          stored.reschedule({ transactionId: id, state: "READY", checks: 0 }, { dueAt: now, checks: 1, code: "" }),
        "payments_pkey",
      ],
      forgetHeld: [(stored) => stored.forgetHeld({ transactionId: id, lastCode: "ACCOUNT_FROZEN" }), "payments_pkey"],
      wakeHeld: [(stored) => stored.wakeHeld(place.organizationId, now), NEW_PAYOUTS, "payments_pkey"],
      noteQuestion: [(stored) => stored.noteQuestion(id, "a question"), "payments_pkey"],
      endQuestion: [(stored) => stored.endQuestion("a question"), "payments_asked"],
      advance: [(stored) => stored.advance(id, now), "payments_pkey"],
      unknownPayouts: [(stored) => stored.unknownPayouts(RAIL_ACCOUNT), OTHER_OPEN],
      listUnknownPayouts: [(stored) => stored.listUnknownPayouts(RAIL_ACCOUNT, limit), OTHER_OPEN],
    } satisfies Record<keyof Payments, Way>;
    const WAYS: Readonly<Record<string, Way>> = {
      ...METHODS,
      "due without new payouts": [(stored) => stored.due(RAIL_ACCOUNT, { now, limit, payOutTo: [] }), OTHER_OPEN],
    };

    for (const [name, [call, ...indexes]] of Object.entries(WAYS)) {
      it(`${name} goes along ${indexes.join(" and ")}`, async () => {
        const plan = await plansOf((cell) => call(payments(cell)));
        const text = plan.join("\n");
        // SQLite names the index of a primary key after the table.
        const found = text.replaceAll("sqlite_autoindex_payments_1", "payments_pkey").match(/\bpayments_[a-z]\w+/g);
        expect(new Set(found), text).to.deep.equal(new Set(indexes));
        expect(
          plan.filter((step) => DEAR[engine].test(step)),
          text,
        ).to.deep.equal([]);
      });
    }

    for (const [name, call] of [
      ["due messages", (inbox) => inbox.due({ now, limit })],
      ["the messages of a transaction", (inbox) => inbox.messages(id)],
      ["a message to postpone", (inbox) => inbox.postpone(1, { dueAt: now, tries: 1 })],
      ["a new message", (inbox) => inbox.add({ transactionId: id, purpose: "status", body: "" }, now)],
    ] as const satisfies readonly (readonly [string, (inbox: ReturnType<typeof railInbox>) => Promise<unknown>])[]) {
      it(`finds ${name} along an index`, async () => {
        const plan = await plansOf((cell) => call(railInbox(cell)));
        const dear = plan.filter((step) => /^SCAN (?!CONSTANT)|Seq Scan|Bitmap Heap Scan/.test(step));
        expect(dear, plan.join("\n")).to.deep.equal([]);
      });
    }
  });
}
