import { setImmediate as nextTurn } from "node:timers/promises";

import type { EventPattern } from "../../src/domain/event-types.js";
import type { AccountId, OrganizationId, WebhookEndpointId } from "../../src/domain/values/ids.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import { disablingBy } from "../../src/parts/webhooks.js";
import type { Cell } from "../../src/storage/database.js";
import { eventReads } from "../../src/storage/events/event-reads.js";
import { keys } from "../../src/storage/keys.js";
import { commitNow, mustCommit } from "../../src/storage/organizations/commit-now.js";
import { deliveryStore } from "../../src/storage/webhooks/delivery-store.js";
import type { Delivery, ReceiverAnswer } from "../../src/webhooks/ports/delivery.js";
import { Webhooks } from "../../src/webhooks/webhooks.js";
import type { TestDatabase } from "../support/databases.js";
import { createAccount } from "../support/operations/accounts.js";
import { mint } from "../support/operations/transactions.js";
import { createWebhookEndpoint } from "../support/operations/webhooks.js";

const OK: ReceiverAnswer = { code: 204, problem: "", retryAfterMillis: undefined };
const BATCH = 250;

/** A delivery that began. */
export interface Sent {
  /** The time of the loop's clock. */
  readonly at: number;
  readonly url: string;
  readonly id: string;
}

interface Wait {
  readonly until: number;
  readonly resolve: () => void;
}

/**
 * The deliveries of one server on a real database, with a clock that the test moves. Between two
 * waits of the loop nothing is under way but deliveries that the test holds.
 */
export class Loop {
  now: number;
  readonly sent: Sent[] = [];
  readonly errors: unknown[] = [];
  /** Answers a delivery. A promise that never resolves holds it. */
  answer: (sent: Sent) => ReceiverAnswer | Promise<ReceiverAnswer> = () => OK;
  leaseMillis = 60_000;
  readonly #waits: Wait[] = [];
  #reads = 0;

  private constructor(now: number) {
    this.now = now;
  }

  static start(cell: Cell, now = Date.now()): Loop {
    const loop = new Loop(now);
    const reads = eventReads(cell);
    const webhooks = new Webhooks({
      store: deliveryStore(cell),
      events: {
        after: async (organizationId, afterSequence, limit) => {
          loop.#reads += 1;
          const { events } = await reads.after({ organizationId, afterSequence, limit });
          loop.#reads -= 1;
          return events.map(({ sequence: seq, id, type, recordedAt }) => {
            return { seq, id, type, recordedAt, json: () => String(seq) };
          });
        },
      },
      lease: { leftMillis: () => loop.leaseMillis },
      send: (delivery) => loop.#send(delivery),
      timing: {
        now: () => toUnixMillis(loop.now),
        monotonicMillis: () => loop.now,
        wait: (millis) =>
          new Promise((resolve) => {
            loop.#waits.push({ until: loop.now + millis, resolve });
          }),
        random: () => 0,
      },
      onError: (error) => loop.errors.push(error),
      disable: disablingBy((command) => commitNow(cell, command, toUnixMillis(loop.now))),
      onDisabled: () => undefined,
    });
    webhooks.start();
    return loop;
  }

  /** Moves the clock to the end of the loop's wait, and lets the loop work until its next wait. */
  async step(): Promise<void> {
    await this.#rest();
    const wait = this.#waits.shift();
    if (wait === undefined) return;
    this.now = wait.until;
    wait.resolve();
    await this.#rest();
    if (this.errors.length > 0) throw this.errors[0];
  }

  async run(millis: number): Promise<void> {
    for (const end = this.now + millis; this.now < end;) await this.step();
  }

  #send({ url, headers }: Delivery): Promise<ReceiverAnswer> {
    const sent = { at: this.now, url, id: headers["webhook-id"] ?? "" };
    this.sent.push(sent);
    return Promise.resolve(this.answer(sent));
  }

  async #rest(): Promise<void> {
    do await nextTurn();
    while (this.#waits.length === 0 || this.#reads > 0);
    // What was read is taken up.
    await nextTurn();
  }
}

/** An organization with an account. Each of its mints is an event. */
export class Book {
  readonly organizationId: OrganizationId;
  readonly #cell: Cell;
  readonly #accountId: AccountId;
  #references = 0;

  private constructor(cell: Cell, organizationId: OrganizationId, accountId: AccountId) {
    this.#cell = cell;
    this.organizationId = organizationId;
    this.#accountId = accountId;
  }

  static async make({ database, cell }: TestDatabase, name: string): Promise<Book> {
    const now = toUnixMillis(Date.now());
    const { id } = await keys(database, () => now).createOrganization(name);
    const account = createAccount(id, "user");
    await cell.committer.commit([account], now);
    return new Book(cell, id, account.newAccountId);
  }

  /** Adds an endpoint for mints. */
  async endpoint(url: string): Promise<WebhookEndpointId> {
    const types = ["transaction.completed" as EventPattern];
    const command = createWebhookEndpoint(this.organizationId, { url, types });
    await mustCommit(this.#cell, command, toUnixMillis(Date.now()));
    return command.newEndpointId;
  }

  async mint(count: number): Promise<void> {
    const { organizationId } = this;
    for (let left = count; left > 0; left -= BATCH) {
      const commands = Array.from({ length: Math.min(BATCH, left) }, () => {
        const reference = `mint-${String((this.#references += 1))}`;
        return mint({ organizationId, accountId: this.#accountId, amount: "1.00", reference });
      });
      const results = await this.#cell.committer.commit(commands, toUnixMillis(Date.now()));
      if (results.some(({ kind }) => kind !== "done")) throw new Error("a mint was not done");
    }
  }
}
