import { randomUUID } from "node:crypto";

import type { Logger } from "pino";
import { typeidUnboxed } from "typeid-js";

import { SYSTEM_TIMING } from "../../runtime/wait.js";
import type { RailCommand } from "../domain/operations.js";
import type { Actor } from "../domain/values/actor.js";
import type { DepositId, TransactionId } from "../domain/values/ids.js";
import type { UnixMillis } from "../domain/values/time.js";
import type { CellRails } from "../grpc/services/served-cell.js";
import type { Ledger } from "../ledger/ledger.js";
import type { PaymentRail } from "../rails/rail.js";
import { toldCodeOf } from "../rails/told-code.js";
import { BalanceReader } from "../settlement/balances.js";
import type { Stopped } from "../settlement/breaker.js";
import { DepositSweeper } from "../settlement/deposits/sweeper.js";
import { RailFaults } from "../settlement/faults.js";
import type { StoredPayment } from "../settlement/ports/payments.js";
import type { RailAccounts } from "../settlement/ports/rail-accounts.js";
import type { SettlementEvent, SettlementTiming, Submit } from "../settlement/ports/runtime.js";
import { RailNames } from "../settlement/rail-names.js";
import { openPaymentOf } from "../settlement/schedule.js";
import { Settlement } from "../settlement/settlement.js";
import { heldReasonOf } from "../settlement/unknown-payouts.js";
import { failureLog } from "../startup/failure-facts.js";
import { type Callbacks, railAccountsOf } from "../startup/rails.js";
import type { Cell } from "../storage/database.js";
import { balanceQuestions } from "../storage/rails/balances.js";
import { setPayouts } from "../storage/rails/change-rail-accounts.js";
import { deposits } from "../storage/rails/deposits.js";
import { railInbox } from "../storage/rails/inbox.js";
import { payments } from "../storage/rails/payments.js";
import { balanceNotes } from "./balance-notes.js";
import { depositCallbacks } from "./deposit-callbacks.js";
import { cellLease, type Part, underLease } from "./lease.js";

/** The rails of one cell, with the settlement that moves its payments. */
export interface RunningRails extends CellRails, Part {
  /** What the breaker holds back. */
  payoutsStopped(): Stopped;
  /** The rows of the lists of received payments that nobody could read or has booked. */
  unreadableRows(): number;
}

interface RailsOptions {
  readonly ledger: Pick<Ledger, "submit">;
  readonly newTransactionId: () => TransactionId;
  /** What a payer typed is removed after this time. */
  readonly typedMillisMax: number;
  readonly callbacks: Callbacks | undefined;
  /** The hosts at which live accounts may be, beside those of the rails. */
  readonly hosts: readonly string[];
  readonly now: () => UnixMillis;
  readonly logger: Logger;
}

/** Puts the rails of one cell together. */
export function cellRails(cell: Cell, options: RailsOptions): RunningRails {
  const { ledger, newTransactionId, typedMillisMax, now, logger } = options;
  const timing: SettlementTiming = { now, ...SYSTEM_TIMING };
  const onEvent = (event: SettlementEvent): void => {
    logEvent(logger, cell.number, event);
  };
  const onError = (error: unknown): void => {
    onEvent({ kind: "error", error });
  };
  const railAccounts = railAccountsOf(cell, options);
  const depositMessages = depositCallbacks(cell, { rails: railAccounts, timing, logger });
  const stores = { payments: payments(cell), inbox: railInbox(cell) };
  const lease = cellLease(cell, { name: "settlement", onError, logger });
  const submit: Submit<RailCommand> = (command, deadline) => ledger.submit(command, deadline, { rail: true });
  const faults = new RailFaults({ submitWatch: submit, timing, onEvent });
  const shared = { railAccounts, lease, faults, submit, timing, onEvent };
  const settlement = new Settlement({
    ...stores,
    ...shared,
    submitWatch: submit,
    newTransactionId,
    closePayouts: async ({ organizationId, rail }, code) => {
      const actor = rail.name as string as Actor;
      const reason = `the rail answered ${code}`;
      const change = { payouts: "closed", reason, lockedCode: code, now: now(), actor } as const;
      await setPayouts(cell, { organizationId, rail: rail.name }, change);
    },
  });
  const sweeper = new DepositSweeper({
    newTransactionId,
    newDepositId: () => typeidUnboxed("dep") as string as DepositId,
    typedMillisMax,
    deposits: deposits(cell),
    inbox: stores.inbox,
    ...shared,
  });
  const balances = new BalanceReader({
    payments: stores.payments,
    ...balanceQuestions(cell, now),
    newQuestion: randomUUID,
    ...shared,
  });
  const leased = underLease(lease, settlement, balances, sweeper);

  return {
    ...stores,
    railAccounts,
    railNames: new RailNames({ railAccounts, timing, onEvent }),
    heldReason: async (payment, isFrozen) => {
      const account = railAccounts.account(payment.railAccountId);
      return account && heldReasonOf(stores.payments, account, { payment, isFrozen, now: now() });
    },
    meaningOf: (payment) => meaningIn(railAccounts, payment),
    reportIn: (payment, message) => railIn(railAccounts, payment)?.read(message, openPaymentOf(payment)),
    wake: () => {
      settlement.wake();
    },
    noteBalance: balanceNotes(cell, { rails: railAccounts, faults, submit, timing, onEvent, logger }),
    depositMessages,
    payoutsStopped: () => settlement.payoutsStopped,
    unreadableRows: () => sweeper.unreadableRows,
    async start() {
      await railAccounts.start();
      await leased.start();
    },
    async stop(graceMillis) {
      await leased.stop(graceMillis);
      await Promise.all([depositMessages.stop(), railAccounts.stop()]);
    },
  };
}

/** Says in words what the last code of a payment means, if its rail knows it. */
function meaningIn(railAccounts: Pick<RailAccounts, "account">, payment: StoredPayment): string | undefined {
  const { code, place } = toldCodeOf(payment.lastCode ?? "");
  return place === undefined ? undefined : railIn(railAccounts, payment)?.explain?.(code, place);
}

function railIn(
  railAccounts: Pick<RailAccounts, "account">,
  { railAccountId }: Pick<StoredPayment, "railAccountId">,
): PaymentRail | undefined {
  return railAccounts.account(railAccountId)?.rail;
}

/** What an event is in the log. Those that need somebody are warnings, or errors. */
const LEVELS: Readonly<Record<Exclude<SettlementEvent["kind"], "error">, "error" | "warn" | "info">> = {
  "credentials refused": "error",
  "request refused": "error",
  "outcome unknown": "warn",
  "no rail account": "warn",
  "payouts stopped": "warn",
  "payouts closed": "warn",
  "no list": "warn",
  "empty list": "warn",
  "rows not credited": "warn",
  "payment not booked": "warn",
  "return unclear": "warn",
  "other rows": "info",
  sent: "info",
  "return sent": "info",
  blocked: "info",
  "message dropped": "info",
  "no balance": "info",
  undecided: "info",
  "payments found": "info",
};

function logEvent(logger: Logger, cell: number, event: SettlementEvent): void {
  const { kind } = event;
  if (kind === "error") failureLog(logger, cell, "the settlement failed at a step, and tries it again")(event.error);
  else logger[LEVELS[kind]]({ cell, ...factsOf(event) }, `settlement: ${kind}`);
}

function factsOf(event: SettlementEvent): Readonly<Record<string, unknown>> {
  const names = {
    transactionId: "transaction_id",
    transactionIds: "transaction_ids",
    railAccountId: "rail_account_id",
    depositId: "deposit_id",
  } as const;
  return Object.fromEntries(
    Object.entries(event).flatMap(([name, value]: [string, unknown]) =>
      name === "kind" ? [] : [[name in names ? names[name as keyof typeof names] : name, value]],
    ),
  );
}
