import type { EndReturn } from "../../domain/deposits/end-return.js";
import type { RailCommand } from "../../domain/operations.js";
import type { Actor } from "../../domain/values/actor.js";
import type { DepositId } from "../../domain/values/ids.js";
import { NO_REASON, parseStatusReason } from "../../domain/values/text.js";
import { millisSince, toUnixMillis, type UnixMillis } from "../../domain/values/time.js";
import type { ReturnReport } from "../../rails/rail.js";
import type { RailFaults } from "../faults.js";
import {
  BLOCKED_MILLIS,
  CHANGED_MILLIS_MIN,
  FLAGGED_CHECK_MILLIS,
  GRANT_MILLIS_MAX,
  LIST_AGAIN_MILLIS,
  RESULT_MILLIS_MAX,
  RETURNS_MAX,
  UNKNOWN_MILLIS_MAX,
} from "../limits.js";
import type { Deposits, DueReturn, ReturnRequest } from "../ports/deposits.js";
import type { RailInbox } from "../ports/inbox.js";
import type { RailAccount, SettledAccounts } from "../ports/rail-accounts.js";
import type { HeldLease, OnEvent, SettlementTiming, Submit } from "../ports/runtime.js";
import { RailCalls } from "../rail-calls.js";
import { UnderWay } from "../under-way.js";
import { requestOf, returnWaitMillis, verdictOf } from "./return-verdict.js";

export interface DepositReturnsOptions {
  readonly deposits: Deposits;
  readonly inbox: Pick<RailInbox, "aboutReturn">;
  readonly railAccounts: Pick<SettledAccounts, "account">;
  readonly lease: HeldLease;
  readonly faults: RailFaults;
  readonly submit: Submit<RailCommand>;
  readonly timing: SettlementTiming;
  readonly onEvent: OnEvent;
}

/**
 * Asks rails to return the deposits that are RETURNING, and books what became of that. Each request
 * is on disk before the rail has it. Nothing depends on the lease: a rail returns a payment once,
 * whoever asks for it again.
 */
export class DepositReturns {
  readonly #options: DepositReturnsOptions;
  readonly #calls: RailCalls;
  readonly #returns: UnderWay<DepositId>;

  constructor(options: DepositReturnsOptions) {
    this.#options = options;
    this.#calls = new RailCalls(options);
    this.#returns = new UnderWay(options.timing.monotonicMillis);
  }

  /** Starts to work on the returns that are due. */
  async look(): Promise<void> {
    const { deposits, timing, onEvent } = this.#options;
    if (!this.#calls.mayStart) return;
    for (const due of await deposits.dueReturns(timing.now(), RETURNS_MAX + this.#returns.size)) {
      const { depositId } = due;
      if (this.#returns.has(depositId)) continue;
      // What the rail is asked about is due no more: the next look would take as many again.
      if (this.#returns.size >= RETURNS_MAX) return;
      this.#returns.run(
        depositId,
        () => this.#advance(due),
        (error) => {
          onEvent({ kind: "error", error });
        },
      );
    }
  }

  /** Ends the calls under way: what they did is unknown, and they are sent again. */
  async stop(): Promise<void> {
    this.#calls.close();
    this.#calls.abort();
    await this.#returns.idle();
  }

  async #advance(due: DueReturn): Promise<boolean> {
    const { inbox, railAccounts } = this.#options;
    const account = railAccounts.account(due.railAccountId);
    const { rail } = account ?? {};
    if (account === undefined || rail?.returnPayment === undefined) return this.#unclear(due, "NO_RAIL_ACCOUNT");
    const messages = await inbox.aboutReturn(due.depositId);
    const reports = messages.flatMap((body) => rail.readReturn?.(body, due) ?? []);
    await this.#noteFaults(due, account, reports);
    const verdict = verdictOf(due.requests, reports);
    switch (verdict.kind) {
      case "returned":
        return this.#end(due, account, { receipt: verdict.receipt, reason: NO_REASON });
      case "refused": {
        const reason = parseStatusReason(verdict.code);
        return this.#end(due, account, { receipt: undefined, reason: reason.ok ? reason.value : NO_REASON });
      }
      case "returned before":
        return this.#unclear(due, verdict.code);
      case "open":
        return this.#sendIfTime(due, account);
    }
  }

  async #end(due: DueReturn, { rail }: RailAccount, said: Pick<EndReturn, "receipt" | "reason">): Promise<boolean> {
    const { submit, timing } = this.#options;
    const { organizationId, depositId, begunAt } = due;
    const actor = rail.name as string as Actor;
    const command = { name: "endReturn", organizationId, actor, depositId, begunAt, ...said } as const;
    const outcome = await submit(command, toUnixMillis(timing.now() + RESULT_MILLIS_MAX));
    if (outcome.kind === "done") return true;
    const { reason } = outcome.refusal;
    // The book has the receipt for other shillings: no request can change that.
    if (reason === "RECEIPT_ALREADY_USED") return this.#unclear(due, reason);
    return reason === "INVALID_TRANSITION" || this.#postpone(due, LIST_AGAIN_MILLIS);
  }

  /** Asks the rail, unless the last request is too young. After a long time a person must look. */
  async #sendIfTime(due: DueReturn, account: RailAccount): Promise<boolean> {
    const { timing, onEvent } = this.#options;
    const { depositId, requests } = due;
    const now = timing.now();
    const [first, last] = [requests.at(0), requests.at(-1)];
    const isLong = first !== undefined && millisSince(first.at, now) >= UNKNOWN_MILLIS_MAX;
    const waitMillis = (last?.at ?? 0) + (isLong ? FLAGGED_CHECK_MILLIS : returnWaitMillis(requests)) - now;
    if (isLong) onEvent({ kind: "return unclear", depositId, code: last?.code ?? "NO_ANSWER" });
    if (last !== undefined && waitMillis > 0) return this.#postpone(due, waitMillis);
    if (this.#options.faults.blocks(account, "REDEEM")) return this.#postpone(due, BLOCKED_MILLIS);
    return this.#calls.mayStart ? this.#send(due, account, now) : false;
  }

  /** A message about a request of before the account was changed says nothing of it as it is. */
  async #noteFaults({ requests }: DueReturn, account: RailAccount, reports: readonly ReturnReport[]): Promise<void> {
    const sentAt = new Map(requests.map(({ name, at }) => [name, at]));
    for (const { request, fault } of reports) {
      if ((sentAt.get(request) ?? 0) - account.changedAt >= CHANGED_MILLIS_MIN)
        await this.#options.faults.note(account, fault);
    }
  }

  /** The only place that asks a rail to return a deposit. */
  async #send(due: DueReturn, account: RailAccount, now: UnixMillis): Promise<boolean> {
    const { deposits, timing, onEvent } = this.#options;
    const { depositId } = due;
    const sending = [...due.requests, { at: now, result: "sending" } as const];
    const ahead = { requests: sending, dueAt: toUnixMillis(now + returnWaitMillis(sending)) };
    // Another server asks the rail, or the return has ended.
    if (!(await deposits.noteReturn(due, ahead))) return true;
    // This server stood still: the return may have ended since, and the deposit been credited.
    if (timing.now() - now >= GRANT_MILLIS_MAX) return true;
    const sent = await this.#calls.returnPayment(account, due);
    const request: ReturnRequest = sent === undefined ? { at: now, result: "unreached" } : requestOf(sent, now);
    const requests = [...due.requests, request];
    if (sent !== undefined) {
      onEvent({ kind: "return sent", depositId, result: sent.kind, code: request.code });
    }
    // A refusal in the answer itself ends the return at once.
    const waitMillis = request.result === "rejected" ? 0 : returnWaitMillis(requests);
    await deposits.noteReturn({ ...due, ...ahead }, { requests, dueAt: toUnixMillis(now + waitMillis) });
    return true;
  }

  /** The rail does not say with which receipt the deposit went back, if it did. */
  async #unclear(due: DueReturn, code: string): Promise<boolean> {
    this.#options.onEvent({ kind: "return unclear", depositId: due.depositId, code });
    return this.#postpone(due, code === "NO_RAIL_ACCOUNT" ? BLOCKED_MILLIS : FLAGGED_CHECK_MILLIS);
  }

  async #postpone(due: DueReturn, millis: number): Promise<boolean> {
    const { deposits, timing } = this.#options;
    const dueAt = toUnixMillis(timing.now() + millis);
    await deposits.noteReturn(due, { requests: due.requests, dueAt });
    return true;
  }
}
