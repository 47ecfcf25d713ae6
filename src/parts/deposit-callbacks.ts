import type { Logger } from "pino";

import { Turns } from "../../runtime/turns.js";
import { type PaymentByHand, type PaymentVerdict, verdictOf } from "../domain/deposits/payment-verdict.js";
import type { RailAccountId } from "../domain/payment.js";
import type { DepositMessages } from "../grpc/services/served-cell.js";
import { railAccountIdOf } from "../rails/rail-kind.js";
import type { RailAccounts } from "../settlement/ports/rail-accounts.js";
import type { SettlementTiming } from "../settlement/ports/runtime.js";
import { failureFacts } from "../startup/failure-facts.js";
import type { Cell } from "../storage/database.js";
import { noteDueList, noteDueReturn } from "../storage/rails/deposits.js";
import { accountOfReference } from "../storage/rails/payment-questions.js";

/** Confirmations of one rail account cause one write in this time: anybody may forge them. */
const NOTE_MILLIS = 1_000;
/** M-Pesa waits for 8 seconds, and the answer passes the gateway and the network. */
const ANSWER_MILLIS_MAX = 3_000;
/** Questions are few. A flood of forged ones must not take the connections of other reads. */
const RUNNING_MAX = 2;
const WAITING_MAX = 64;

interface DepositCallbacksOptions {
  readonly rails: Pick<RailAccounts, "account">;
  readonly timing: SettlementTiming;
  readonly logger: Logger;
}

/** What a server needs of them beside the messages. */
export interface DepositCallbacks extends DepositMessages {
  /** Notes what is not noted yet. */
  stop(): Promise<void>;
}

/** Takes what rails send by themselves about payments without an order. */
export function depositCallbacks(cell: Cell, options: DepositCallbacksOptions): DepositCallbacks {
  const notes = new DueNotes(cell, options);
  const questions = new Questions(cell, options);
  return {
    confirmed: (uuid) => {
      notes.note(railAccountIdOf(uuid));
    },
    answer: (uuid, body) => questions.answer(railAccountIdOf(uuid), body),
    returnReported: (id) => noteDueReturn(cell, id, options.timing.now()),
    stop: () => notes.stop(),
  };
}

/** Notes which lists are due: at once, and then once a second as long as confirmations come. */
class DueNotes {
  readonly #cell: Cell;
  readonly #options: DepositCallbacksOptions;
  readonly #stopped = new AbortController();
  /** The accounts whose second has not passed, and whether another confirmation came in it. */
  readonly #noted = new Map<RailAccountId, { cameAgain: boolean; readonly done: Promise<void> }>();

  constructor(cell: Cell, options: DepositCallbacksOptions) {
    this.#cell = cell;
    this.#options = options;
  }

  note(id: RailAccountId): void {
    const noted = this.#noted.get(id);
    if (noted !== undefined) noted.cameAgain = true;
    else if (this.#options.rails.account(id) !== undefined) {
      this.#noted.set(id, { cameAgain: false, done: this.#write(id) });
    }
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    while (this.#noted.size > 0) await Promise.all([...this.#noted.values()].map(({ done }) => done));
  }

  async #write(id: RailAccountId): Promise<void> {
    const { timing, logger } = this.#options;
    await noteDueList(this.#cell, id, timing.now()).catch((error: unknown) => {
      // The list is read from time to time anyway.
      const facts = { cell: this.#cell.number, rail_account_id: id, ...failureFacts(error) };
      logger.warn(facts, "a confirmation was not noted");
    });
    await timing.wait(NOTE_MILLIS, this.#stopped.signal);
    const cameAgain = this.#noted.get(id)?.cameAgain === true;
    this.#noted.delete(id);
    // A payment that was confirmed during the second may not have been in the list that was read.
    if (cameAgain) this.note(id);
  }
}

/** Answers the questions of rails whether they may take a payment. In doubt they may. */
class Questions {
  readonly #cell: Cell;
  readonly #options: DepositCallbacksOptions;
  readonly #turns = new Turns<RailAccountId>({ runningMax: RUNNING_MAX, waitingMax: WAITING_MAX });

  constructor(cell: Cell, options: DepositCallbacksOptions) {
    this.#cell = cell;
    this.#options = options;
  }

  async answer(id: RailAccountId, body: string): Promise<string | undefined> {
    const { rails, logger } = this.#options;
    const rail = rails.account(id)?.rail;
    const question = rail?.readQuestion?.(body);
    if (question === undefined) return undefined;
    try {
      const verdict = await this.#inTime(this.#turns.run(id, () => this.#verdict(id, question)));
      return verdict === undefined ? undefined : rail?.answerTo?.(verdict);
    } catch (error) {
      const facts = { cell: this.#cell.number, rail_account_id: id, ...failureFacts(error) };
      logger.warn(facts, "a payment was accepted without a look at its account");
      return undefined;
    }
  }

  async #verdict(id: RailAccountId, question: PaymentByHand): Promise<PaymentVerdict | undefined> {
    const found = await accountOfReference(this.#cell, id, question.reference);
    return found === undefined ? undefined : verdictOf(found, question, this.#options.timing.now());
  }

  /** Undefined if there is no verdict in time, or no turn. */
  async #inTime(verdict: Promise<PaymentVerdict | undefined> | undefined): Promise<PaymentVerdict | undefined> {
    const decided = new AbortController();
    const late = this.#options.timing.wait(ANSWER_MILLIS_MAX, decided.signal).then(() => undefined);
    try {
      return await Promise.race([verdict, late]);
    } finally {
      decided.abort();
    }
  }
}
