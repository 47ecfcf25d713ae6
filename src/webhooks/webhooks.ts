import { setMaxListeners } from "node:events";

import { FairShare } from "../../runtime/fair-share.js";
import { Loop } from "../../runtime/loop.js";
import type { OrganizationId, WebhookEndpointId } from "../domain/values/ids.js";
import type { DisabledReason, Endpoint } from "../domain/webhook-endpoint.js";
import { StoreError } from "../ledger/ports/store.js";
import {
  CELL_STARTS_PER_TICK_MAX,
  CELL_UNDER_WAY_MAX,
  DELIVERY_MILLIS_MAX,
  DUE_MAX,
  LEASE_LEFT_MILLIS_MIN,
  LOOK_MILLIS,
  PAGE_EVENTS,
  READS_MAX,
  RESTS_PER_LOOK,
  SAVE_MILLIS,
  STARTS_PER_TICK_MAX,
  TICK_MILLIS,
  WINDOWS_MAX,
} from "./limits.js";
import type {
  DeliveryLease,
  DeliveryStore,
  DeliveryTiming,
  Due,
  SendDelivery,
  WebhookEvents,
} from "./ports/delivery.js";
import { signedDelivery } from "./sign.js";
import { type Task, Window } from "./window.js";

/** Disables an endpoint, with a row in its book, unless it has changed since it was taken. */
export type DisableEndpoint = (
  endpoint: Pick<Endpoint, "id" | "organizationId" | "revision">,
  reason: DisabledReason,
) => Promise<void>;

export interface WebhooksOptions {
  readonly store: DeliveryStore;
  readonly events: WebhookEvents;
  readonly lease: DeliveryLease;
  readonly send: SendDelivery;
  readonly timing: DeliveryTiming;
  readonly onError: (error: unknown) => void;
  readonly disable: DisableEndpoint;
  /** The service has disabled an endpoint. */
  readonly onDisabled: (id: WebhookEndpointId, reason: string) => void;
}

/**
 * Delivers the events of one cell to its endpoints. The server that has the lease does it. Nothing
 * depends on the lease: an endpoint that another server has taken since cannot be stored, and what
 * is not stored is delivered again (docs/adr/0043).
 */
export class Webhooks {
  readonly #options: WebhooksOptions;
  readonly #windows = new Map<WebhookEndpointId, Window>();
  /** The endpoints whose rows cannot be read. Each was reported once. */
  readonly #unreadable = new Set<WebhookEndpointId>();
  /** The organizations with windows, in the order of their turns. */
  #turns: OrganizationId[] = [];
  readonly #aborted = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** The deliveries under way. One organization alone has at most half of them. */
  readonly #share = new FairShare(CELL_UNDER_WAY_MAX);
  readonly #reading = new Set<Window>();
  #lookAfter = "";
  #lookAt = -Infinity;
  #saveAt = -Infinity;
  readonly #loop: Loop;

  constructor(options: WebhooksOptions) {
    this.#options = options;
    this.#loop = new Loop({ step: () => this.#step(), wait: options.timing.wait });
    // Each delivery under way listens to it.
    setMaxListeners(Infinity, this.#aborted.signal);
  }

  start(): void {
    this.#loop.start();
  }

  /**
   * Begins nothing more. Waits for the deliveries under way, and ends those that take longer.
   * Stores what came of them.
   */
  async stop(graceMillis: number): Promise<void> {
    const { timing, onError } = this.#options;
    await this.#loop.stop();
    const idle = new AbortController();
    const ended = Promise.all(this.#underWay).finally(() => {
      idle.abort();
    });
    await timing.wait(graceMillis, idle.signal);
    this.#aborted.abort();
    await ended;
    await this.#save().catch(onError);
  }

  async #step(): Promise<number> {
    const hasWork = await this.#tick().catch((error: unknown) => {
      this.#options.onError(error);
      // What is in memory may differ from what is stored. It is read again.
      this.#windows.clear();
      return false;
    });
    return hasWork ? TICK_MILLIS : LOOK_MILLIS;
  }

  /** Does what is due. Returns whether there is something to send. */
  async #tick(): Promise<boolean> {
    const { timing, lease } = this.#options;
    if (lease.leftMillis() < LEASE_LEFT_MILLIS_MIN) {
      await this.#save();
      this.#windows.clear();
      return false;
    }
    const from = timing.monotonicMillis();
    if (from >= this.#lookAt) {
      await this.#look();
      const took = timing.monotonicMillis() - from;
      this.#lookAt = from + took + Math.max(LOOK_MILLIS, took * RESTS_PER_LOOK);
    }
    this.#readOn();
    const hasWork = this.#begin();
    if (timing.monotonicMillis() >= this.#saveAt) {
      await this.#save();
      this.#saveAt = timing.monotonicMillis() + SAVE_MILLIS;
    }
    return hasWork || this.#underWay.size > 0 || this.#reading.size > 0;
  }

  /**
   * Finds the endpoints that have something to do, and takes those that are new or were changed.
   */
  async #look(): Promise<void> {
    const { store, timing } = this.#options;
    const page = await store.due({ now: timing.now(), after: this.#lookAfter, limit: DUE_MAX });
    // The next look goes on behind a full page.
    this.#lookAfter = page.length < DUE_MAX ? "" : (page.at(-1)?.id ?? "");
    for (const due of page) {
      const window = this.#windows.get(due.id);
      if (window?.endpoint.revision === due.revision) window.extend(due.lastSeq);
      else if (window !== undefined || this.#windows.size < WINDOWS_MAX) await this.#take(due);
    }
    await this.#forgetClosed();
    this.#forgetIdle();
    const organizations = new Set([...this.#windows.values()].map(({ endpoint }) => endpoint.organizationId));
    const known = this.#turns.filter((id) => organizations.delete(id));
    this.#turns = [...known, ...organizations];
  }

  async #take({ id, lastSeq }: Due): Promise<void> {
    this.#windows.delete(id);
    const { store, timing, onError } = this.#options;
    const taken = await store.take(id, timing.now()).catch((error: unknown) => {
      // One row that cannot be read keeps no other endpoint from its events.
      if (!(error instanceof StoreError) || error.kind !== "rejected") throw error;
      if (!this.#unreadable.has(id)) onError(error);
      this.#unreadable.add(id);
    });
    if (taken === undefined) return;
    this.#unreadable.delete(id);
    this.#windows.set(id, new Window(taken, lastSeq));
  }

  /** A book that is restored or moving stands still, also in the middle of its events. */
  async #forgetClosed(): Promise<void> {
    const organizations = new Set([...this.#windows.values()].map(({ endpoint }) => endpoint.organizationId));
    if (organizations.size === 0) return;
    const closed = new Set(await this.#options.store.closed([...organizations]));
    for (const [id, { endpoint }] of this.#windows) if (closed.has(endpoint.organizationId)) this.#windows.delete(id);
  }

  /** Keeps the endpoints with work. The others are taken again when they have some. */
  #forgetIdle(): void {
    const now = this.#options.timing.now();
    for (const [id, window] of this.#windows) {
      if (this.#windows.size < WINDOWS_MAX / 2) return;
      if (window.underWay === 0 && !window.hasWork(now) && !this.#reading.has(window)) this.#windows.delete(id);
    }
  }

  #readOn(): void {
    const { timing, events } = this.#options;
    const now = timing.now();
    for (const window of this.#windows.values()) {
      if (this.#reading.size >= READS_MAX) return;
      if (this.#reading.has(window) || !window.hasWork(now)) continue;
      const toRead = window.toRead;
      if (toRead === undefined) continue;
      this.#reading.add(window);
      this.#following(
        events
          .after(window.endpoint.organizationId, toRead.after, PAGE_EVENTS)
          .then((page) => {
            window.read(toRead.track, page);
          })
          .finally(() => {
            this.#reading.delete(window);
          }),
      );
    }
  }

  /** Begins deliveries. Organizations take turns, and so do the endpoints of one organization. */
  #begin(): boolean {
    const now = this.#options.timing.now();
    const left = new Map<Window, number>();
    const byOrganization = new Map<OrganizationId, Window[]>();
    for (const window of this.#windows.values()) {
      if (!window.hasWork(now)) continue;
      left.set(window, STARTS_PER_TICK_MAX);
      const { organizationId } = window.endpoint;
      byOrganization.set(organizationId, [...(byOrganization.get(organizationId) ?? []), window]);
    }
    let starts = CELL_STARTS_PER_TICK_MAX;
    let waiting = this.#turns.filter((id) => byOrganization.has(id));
    while (waiting.length > 0) {
      const again: OrganizationId[] = [];
      for (const id of waiting) {
        if (starts === 0) {
          // The next tick begins with the organization that got no turn.
          this.#turns = [id, ...this.#turns.filter((other) => other !== id)];
          return true;
        }
        if (!this.#beginOne(byOrganization.get(id) ?? [], left)) continue;
        starts -= 1;
        again.push(id);
        this.#turns = [...this.#turns.filter((other) => other !== id), id];
      }
      waiting = again;
    }
    return left.size > 0;
  }

  /** Begins one delivery of the first window that has one, and puts that window last. */
  #beginOne(windows: Window[], left: Map<Window, number>): boolean {
    for (const window of windows) {
      const { organizationId } = window.endpoint;
      const starts = left.get(window) ?? 0;
      if (starts === 0 || !this.#share.acquire(organizationId)) continue;
      const task = window.next(this.#options.timing.now());
      if (task === undefined) {
        this.#share.release(organizationId);
        continue;
      }
      left.set(window, starts - 1);
      windows.splice(windows.indexOf(window), 1);
      windows.push(window);
      const delivered = this.#deliver(window, task).finally(() => {
        this.#share.release(organizationId);
      });
      this.#following(delivered);
      return true;
    }
    return false;
  }

  async #deliver(window: Window, task: Task): Promise<void> {
    const { events, timing, send } = this.#options;
    const { endpoint } = window;
    try {
      const event = task.event ?? (await events.after(endpoint.organizationId, task.seq - 1, 1))[0];
      if (event === undefined) throw new Error(`${endpoint.organizationId} has no event ${String(task.seq)}`);
      const from = timing.monotonicMillis();
      const delivery = signedDelivery(endpoint, event, timing.now());
      const answer = await send(delivery, { millis: DELIVERY_MILLIS_MAX, signal: this.#aborted.signal });
      // What a stop has cut off is no failure of the receiver. It is delivered again.
      if (this.#aborted.signal.aborted && answer.problem !== "") {
        window.giveBack(task);
        return;
      }
      const millis = Math.round(timing.monotonicMillis() - from);
      window.done(task, { ...answer, at: timing.now(), millis, random: timing.random() });
    } catch (error) {
      window.giveBack(task);
      throw error;
    }
  }

  /** Stores what has changed. Endpoints that somebody else has changed meanwhile are read again. */
  async #save(): Promise<void> {
    const { store, disable, onDisabled } = this.#options;
    const changes = [...this.#windows.values()].flatMap((window) => window.changes() ?? []);
    if (changes.length > 0) {
      for (const id of await store.save(changes)) this.#windows.delete(id);
    }
    for (const { endpoint, disabled } of this.#windows.values()) {
      if (disabled === undefined) continue;
      await disable(endpoint, disabled);
      this.#windows.delete(endpoint.id);
      onDisabled(endpoint.id, disabled);
    }
  }

  /** Follows work in the background. */
  #following(work: Promise<void>): void {
    const followed: Promise<void> = work.catch(this.#options.onError).finally(() => {
      this.#underWay.delete(followed);
    });
    this.#underWay.add(followed);
  }
}
