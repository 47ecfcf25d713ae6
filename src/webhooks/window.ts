import { matchesType } from "../domain/event-types.js";
import type { UnixMillis } from "../domain/values/time.js";
import {
  type Attempt,
  type DisabledReason,
  type Endpoint,
  RETRIES_MAX,
  type Retry,
} from "../domain/webhook-endpoint.js";
import { FAILING_MILLIS_MAX, FAILURES_MAX, UNDER_WAY_MAX } from "./limits.js";
import type { EndpointChanges, ReceiverAnswer, TakenEndpoint, WebhookEvent } from "./ports/delivery.js";
import { nextProbeAt, nextTryAt } from "./schedule.js";
import { Track } from "./track.js";

const GONE = 410;

/** One delivery that the window asks for. */
export interface Task {
  readonly seq: number;
  /** Undefined if the event must be read first. */
  readonly event: WebhookEvent | undefined;
  readonly track: Track | undefined;
  /** Whether it only finds out if the endpoint works again. */
  readonly isProbe: boolean;
}

/** What came of a task. */
export interface DeliveryOutcome extends ReceiverAnswer {
  readonly at: UnixMillis;
  readonly millis: number;
  /** A number from 0 to 1. */
  readonly random: number;
}

/**
 * The deliveries of one endpoint. It decides what is sent next, and what a result means. It does no
 * input or output, and has no clock.
 *
 * An event leaves the cursor when it is delivered, or when it is one of at most 1,000 retries. When
 * these are full, or after 20 failures in a row, the cursor stands, and one probe at a time goes
 * out. A probe is one of the events that wait. It does not count as a try of its event.
 */
export class Window {
  readonly endpoint: Endpoint;
  readonly #live: Track;
  #replay: Track | undefined;
  #replayIsNext = false;
  readonly #retries: Map<number, Retry>;
  readonly #underWay = new Set<number>();
  #newUnderWay = 0;
  #failures: number;
  #failingSince: UnixMillis | undefined;
  #probeAt: UnixMillis | undefined;
  /** No retry is due before. */
  #retryAt: UnixMillis | undefined;
  /** The retries that were due, in the order of their times. */
  #dueRetries: number[] = [];
  readonly #changedRetries = new Set<number>();
  #attempts: Attempt[] = [];
  #savedState: string;
  disabled: DisabledReason | undefined;

  constructor({ endpoint, retries }: TakenEndpoint, lastSeq: number) {
    this.endpoint = endpoint;
    this.#live = new Track({ settledSeq: endpoint.settledSeq, untilSeq: lastSeq });
    this.#replay = endpoint.replay === undefined ? undefined : new Track(endpoint.replay);
    this.#retries = new Map(retries.map((retry) => [retry.seq, retry]));
    this.#failures = endpoint.failures;
    this.#failingSince = endpoint.failingSince;
    this.#probeAt = endpoint.probeAt;
    this.#retryAt = this.#firstRetryAt();
    this.#savedState = this.#state();
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** Whether the endpoint gets only probes. */
  get isStanding(): boolean {
    return this.#failures >= FAILURES_MAX || this.#retries.size >= RETRIES_MAX;
  }

  /** Whether something can be sent now, or must be read first. */
  hasWork(now: UnixMillis): boolean {
    if (this.disabled !== undefined) return false;
    if (this.isStanding) return this.#probeAt === undefined || this.#probeAt <= now;
    if (this.#dueRetries.length > 0 || (this.#retryAt !== undefined && this.#retryAt <= now)) return true;
    return this.#tracks().some((track) => !track.isAtEnd);
  }

  /** The book has grown. */
  extend(lastSeq: number): void {
    this.#live.untilSeq = Math.max(this.#live.untilSeq, lastSeq);
  }

  /** The track that must be read on, and after which sequence. */
  get toRead(): { readonly track: Track; readonly after: number } | undefined {
    for (const track of this.#tracks()) {
      const after = track.readAfter;
      if (after !== undefined) return { track, after };
    }
    return undefined;
  }

  read(track: Track, events: readonly WebhookEvent[]): void {
    const { types } = this.endpoint;
    track.add(events, ({ type }) => types === undefined || types.some((pattern) => matchesType(pattern, type)));
  }

  /** Takes the next task. The caller reports its outcome with `done`, or gives it back. */
  next(now: UnixMillis): Task | undefined {
    if (this.disabled !== undefined || this.#underWay.size >= UNDER_WAY_MAX) return undefined;
    const task = this.isStanding ? this.#nextProbe(now) : (this.#nextRetry(now) ?? this.#nextEvent());
    if (task === undefined) return undefined;
    this.#underWay.add(task.seq);
    if (task.track !== undefined) this.#newUnderWay += 1;
    return task;
  }

  /** The task was not sent, because its event could not be read. */
  giveBack(task: Task): void {
    this.#end(task);
    if (task.event !== undefined) task.track?.giveBack(task.event);
  }

  done(task: Task, outcome: DeliveryOutcome): void {
    this.#end(task);
    const { seq, isProbe, track } = task;
    const { code, problem, at, millis } = outcome;
    const succeeded = problem === "";
    const before = this.#retries.get(seq)?.tries ?? 0;
    const tries = isProbe && !succeeded ? before : before + 1;
    this.#attempts.push({ seq, tries, succeeded, code, problem, at, millis });
    if (succeeded) {
      track?.settle(seq);
      this.#setRetry(seq, undefined);
      this.#heal(at);
      return;
    }
    const moment = { now: at, ...outcome };
    this.#failures += 1;
    this.#failingSince ??= at;
    if (code === GONE) this.disabled = "GONE";
    else if (this.#failures >= FAILURES_MAX && at - this.#failingSince >= FAILING_MILLIS_MAX) this.disabled = "FAILING";
    if (isProbe) {
      if (task.event !== undefined) track?.giveBack(task.event);
    } else {
      const last = { code, problem, at, millis };
      this.#setRetry(seq, { seq, tries, nextAt: nextTryAt(tries, moment), last });
      track?.settle(seq);
    }
    if (this.isStanding) this.#probeAt = nextProbeAt(this.#failures, moment);
  }

  /** Returns what has changed since the last call. Undefined if nothing has. */
  changes(): EndpointChanges | undefined {
    if (this.#replay?.isAtEnd === true) this.#replay = undefined;
    const state = this.#state();
    if (state === this.#savedState && this.#changedRetries.size === 0 && this.#attempts.length === 0) return undefined;
    this.#savedState = state;
    const changed = [...this.#changedRetries].map((seq) => [seq, this.#retries.get(seq)] as const);
    const attempts = this.#attempts;
    this.#changedRetries.clear();
    this.#attempts = [];
    return {
      id: this.endpoint.id,
      revision: this.endpoint.revision,
      settledSeq: this.#live.settledSeq,
      replay:
        this.#replay === undefined
          ? undefined
          : { settledSeq: this.#replay.settledSeq, untilSeq: this.#replay.untilSeq },
      failures: this.#failures,
      failingSince: this.#failingSince,
      probeAt: this.#probeAt,
      retryAt: this.#firstRetryAt(),
      retries: changed.flatMap(([, retry]) => (retry === undefined ? [] : [retry])),
      settledRetries: changed.flatMap(([seq, retry]) => (retry === undefined ? [seq] : [])),
      attempts,
    };
  }

  #state(): string {
    const { settledSeq } = this.#live;
    return JSON.stringify([settledSeq, this.#replay?.settledSeq, this.#failures, this.#failingSince, this.#probeAt]);
  }

  #tracks(): readonly Track[] {
    return this.#replay === undefined ? [this.#live] : [this.#live, this.#replay];
  }

  #end({ seq, track }: Task): void {
    this.#underWay.delete(seq);
    if (track !== undefined) this.#newUnderWay -= 1;
  }

  #heal(at: UnixMillis): void {
    const wasStanding = this.#probeAt !== undefined;
    this.#failures = 0;
    this.#failingSince = undefined;
    // The endpoint works again: the next probe goes at once, if it still gets only probes.
    this.#probeAt = undefined;
    if (!wasStanding) return;
    for (const retry of this.#retries.values()) {
      if (retry.nextAt !== undefined && retry.nextAt > at) this.#setRetry(retry.seq, { ...retry, nextAt: at });
    }
  }

  #nextRetry(now: UnixMillis): Task | undefined {
    if (this.#dueRetries.length === 0 && this.#retryAt !== undefined && this.#retryAt <= now) {
      const due = [...this.#retries.values()].filter(({ nextAt }) => nextAt !== undefined && nextAt <= now);
      this.#dueRetries = due
        .toSorted((left, right) => Number(left.nextAt) - Number(right.nextAt))
        .map(({ seq }) => seq);
      this.#retryAt = this.#firstRetryAt(now);
    }
    for (let seq = this.#dueRetries.shift(); seq !== undefined; seq = this.#dueRetries.shift()) {
      const retry = this.#retries.get(seq);
      const isDue = retry?.nextAt !== undefined && retry.nextAt <= now;
      if (isDue && !this.#underWay.has(seq)) return { seq, event: undefined, track: undefined, isProbe: false };
    }
    return undefined;
  }

  /** Takes a new event, in turn of the book's end and of the replay, if a retry has room for it. */
  #nextEvent(): Task | undefined {
    if (this.#retries.size + this.#newUnderWay >= RETRIES_MAX) return undefined;
    const tracks = this.#tracks().filter(({ hasWaiting }) => hasWaiting);
    const track = tracks[this.#replayIsNext ? tracks.length - 1 : 0];
    this.#replayIsNext = !this.#replayIsNext;
    return this.#eventOf(track, { isProbe: false });
  }

  #eventOf(track: Track | undefined, { isProbe }: { readonly isProbe: boolean }): Task | undefined {
    const event = track?.next();
    if (event === undefined || track === undefined) return undefined;
    if (!this.#underWay.has(event.seq)) return { seq: event.seq, event, track, isProbe };
    // The same event is under way as a retry or in the other track. It goes out once more after it.
    track.giveBack(event);
    return undefined;
  }

  /**
   * Takes each of the events that wait in turn: one of them alone may be what the endpoint
   * refuses.
   */
  #nextProbe(now: UnixMillis): Task | undefined {
    if (this.#underWay.size > 0 || (this.#probeAt !== undefined && this.#probeAt > now)) return undefined;
    const seqs = [...this.#retries.keys()];
    const track = this.#tracks().find(({ hasWaiting }) => hasWaiting);
    const turn = this.#failures % (seqs.length + (track === undefined ? 0 : 1) || 1);
    const seq = seqs[turn];
    if (seq !== undefined) return { seq, event: undefined, track: undefined, isProbe: true };
    return this.#eventOf(track, { isProbe: true });
  }

  #setRetry(seq: number, retry: Retry | undefined): void {
    if (retry === undefined && !this.#retries.has(seq)) return;
    this.#changedRetries.add(seq);
    if (retry === undefined) {
      this.#retries.delete(seq);
      return;
    }
    this.#retries.set(seq, retry);
    const { nextAt } = retry;
    if (nextAt !== undefined && nextAt < (this.#retryAt ?? Infinity)) this.#retryAt = nextAt;
  }

  /** The first time of all retries, or of those after a time. */
  #firstRetryAt(after = -Infinity): UnixMillis | undefined {
    let first: UnixMillis | undefined;
    for (const { nextAt } of this.#retries.values()) {
      if (nextAt !== undefined && nextAt > after && nextAt < (first ?? Infinity)) first = nextAt;
    }
    return first;
  }
}
