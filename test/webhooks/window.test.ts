import { expect } from "chai";
import fc from "fast-check";

import type { EventPattern } from "../../src/domain/event-types.js";
import { toUnixMillis } from "../../src/domain/values/time.js";
import type { Endpoint } from "../../src/domain/webhook-endpoint.js";
import { RETRIES_MAX } from "../../src/domain/webhook-endpoint.js";
import { FAILURES_MAX, RETRY_MILLIS, UNDER_WAY_MAX } from "../../src/webhooks/limits.js";
import type { TakenEndpoint, WebhookEvent } from "../../src/webhooks/ports/delivery.js";
import { type Task, Window } from "../../src/webhooks/window.js";
import { endpoint } from "../support/given.js";

const AT = toUnixMillis(1_790_000_000_000);
const DAY_MILLIS = 86_400_000;

function event(seq: number, type = "key.created"): WebhookEvent {
  return { seq, id: `evt_${String(seq)}`, type, recordedAt: AT, json: () => "{}" };
}

/** An endpoint, its window, and the book behind it, on a clock that the test sets. */
class World {
  now = Number(AT);
  window: Window;
  readonly delivered: number[] = [];
  #stored: TakenEndpoint;
  readonly #lastSeq: number;

  constructor(lastSeq: number, changes: Partial<Endpoint> = {}) {
    this.#lastSeq = lastSeq;
    this.#stored = { endpoint: endpoint(changes), retries: [] };
    this.window = new Window(this.#stored, lastSeq);
  }

  get retries(): TakenEndpoint["retries"] {
    return this.#stored.retries;
  }

  get stored(): Endpoint {
    return this.#stored.endpoint;
  }

  /** Takes as many tasks as there are, up to the limit. */
  tasks(max = Infinity): Task[] {
    const tasks: Task[] = [];
    while (tasks.length < max) {
      const { toRead } = this.window;
      if (toRead !== undefined) {
        const length = Math.min(64, toRead.track.untilSeq - toRead.after);
        const events = Array.from({ length }, (_, index) => event(toRead.after + 1 + index));
        this.window.read(toRead.track, events);
      }
      const task = this.window.next(toUnixMillis(this.now));
      if (task === undefined) return tasks;
      tasks.push(task);
    }
    return tasks;
  }

  end(task: Task, code: number, retryAfterMillis?: number): void {
    const isOk = code === 204;
    if (isOk) this.delivered.push(task.seq);
    const at = toUnixMillis(this.now);
    this.window.done(task, { code, problem: isOk ? "" : "no", retryAfterMillis, at, millis: 1, random: 0 });
  }

  /** Stores what has changed, as the database would. */
  save(): void {
    const changes = this.window.changes();
    if (changes === undefined) return;
    const { settledSeq, replay, failures, failingSince, probeAt, retries, settledRetries } = changes;
    const kept = new Map(this.#stored.retries.map((retry) => [retry.seq, retry]));
    for (const retry of retries) kept.set(retry.seq, retry);
    for (const seq of settledRetries) kept.delete(seq);
    this.#stored = {
      endpoint: { ...this.#stored.endpoint, settledSeq, replay, failures, failingSince, probeAt },
      retries: [...kept.values()],
    };
  }

  /** The server was killed: what is not stored is gone. */
  restart(): void {
    this.window = new Window(this.#stored, this.#lastSeq);
  }
}

describe("Window", () => {
  it("delivers each event once, and its cursor follows", () => {
    const world = new World(200);
    for (;;) {
      const tasks = world.tasks();
      if (tasks.length === 0) break;
      expect(tasks.length).to.be.at.most(UNDER_WAY_MAX);
      for (const task of tasks.toReversed()) world.end(task, 204);
    }
    world.save();
    expect(world.delivered.toSorted((left, right) => left - right)).to.deep.equal(
      Array.from({ length: 200 }, (_, index) => index + 1),
    );
    expect(world.stored.settledSeq).to.equal(200);
  });

  it("keeps its cursor before the first event that is under way", () => {
    const world = new World(3);
    const [first, ...others] = world.tasks();
    for (const task of others) world.end(task, 204);
    world.save();
    expect(world.stored.settledSeq).to.equal(0);
    if (first !== undefined) world.end(first, 204);
    world.save();
    expect(world.stored.settledSeq).to.equal(3);
  });

  it("passes over events of other types", () => {
    const world = new World(2, { types: ["account.*" as EventPattern] });
    expect(world.tasks()).to.deep.equal([]);
    world.save();
    expect(world.stored.settledSeq).to.equal(2);
  });

  it("tries an event again at the times of the schedule, and gives it up after the last", () => {
    const world = new World(1);
    const waits: number[] = [];
    for (let tries = 0; tries <= RETRY_MILLIS.length; tries++) {
      const [task] = world.tasks();
      if (task === undefined) throw new Error(`no try ${String(tries)}`);
      world.end(task, 500);
      world.save();
      const nextAt = world.retries[0]?.nextAt;
      if (nextAt === undefined) break;
      waits.push(nextAt - world.now);
      world.now = nextAt - 1;
      expect(world.tasks()).to.deep.equal([]);
      world.now = nextAt;
    }
    expect(waits).to.deep.equal(RETRY_MILLIS);
    expect(world.retries).to.have.length(1);
    expect(world.retries[0]).to.include({ seq: 1, tries: RETRY_MILLIS.length + 1, nextAt: undefined });
    world.now += 30 * DAY_MILLIS;
    expect(world.tasks()).to.deep.equal([]);
  });

  it("waits as long as Retry-After asks, within the bound", () => {
    const world = new World(2);
    const [first, second] = world.tasks();
    if (first === undefined || second === undefined) throw new Error("no tasks");
    world.end(first, 503, 600_000);
    world.end(second, 503, 400 * DAY_MILLIS);
    world.save();
    expect(world.retries.map(({ nextAt }) => Number(nextAt) - world.now)).to.deep.equal([600_000, 36_000_000]);
  });

  it("sends only probes after 20 failures, none of which ages its event, and all when it works again", () => {
    const world = new World(5_000);
    for (const task of world.tasks(FAILURES_MAX)) world.end(task, 500);
    world.save();
    const tries = world.retries.map((retry) => retry.tries);
    let probes = 0;
    for (let hour = 0; hour < 72; hour++) {
      const tasks = world.tasks();
      expect(tasks.length).to.be.at.most(1);
      for (const task of tasks) world.end(task, 500);
      probes += tasks.length;
      world.now += 3_600_000;
    }
    world.save();
    expect(probes).to.be.within(50, 72);
    expect(world.retries.map((retry) => retry.tries)).to.deep.equal(tries);
    expect(world.stored.settledSeq).to.equal(FAILURES_MAX);
    for (let tasks = world.tasks(); tasks.length > 0; tasks = world.tasks()) {
      for (const task of tasks) world.end(task, 204);
    }
    world.save();
    expect(new Set(world.delivered).size).to.equal(5_000);
    expect(world.retries).to.deep.equal([]);
    expect(world.stored).to.include({ settledSeq: 5_000, failures: 0, failingSince: undefined });
  });

  it("disables an endpoint that is gone, or that fails for five days", () => {
    const gone = new World(1);
    for (const task of gone.tasks()) gone.end(task, 410);
    expect(gone.window.disabled).to.equal("GONE");
    expect(gone.tasks()).to.deep.equal([]);
    const failing = new World(100);
    for (let hour = 0; hour < 5 * 24; hour++) {
      for (const task of failing.tasks()) failing.end(task, 500);
      expect(failing.window.disabled, String(hour)).to.equal(undefined);
      failing.now += 3_600_000;
    }
    for (const task of failing.tasks()) failing.end(task, 500);
    expect(failing.window.disabled).to.equal("FAILING");
  });

  it("replays a range beside the new events", () => {
    const world = new World(10, { settledSeq: 8, replay: { settledSeq: 2, untilSeq: 5 } });
    for (const task of world.tasks()) world.end(task, 204);
    world.save();
    expect(world.delivered.toSorted((left, right) => left - right)).to.deep.equal([3, 4, 5, 9, 10]);
    expect(world.stored).to.include({ settledSeq: 10, replay: undefined });
  });

  it("loses no event, and keeps at most 1,000 retries, whatever fails and whenever the server dies", () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 6, arbitrary: fc.record({ kind: fc.constant("send" as const), bits: fc.integer() }) },
        { weight: 2, arbitrary: fc.constant({ kind: "save" as const }) },
        { weight: 1, arbitrary: fc.constant({ kind: "kill" as const }) },
        {
          weight: 2,
          arbitrary: fc.record({ kind: fc.constant("wait" as const), millis: fc.integer({ min: 1, max: 40_000_000 }) }),
        },
      ),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(steps, fc.integer({ min: 1, max: 3_000 }), (all, lastSeq) => {
        const world = new World(lastSeq, { replay: { settledSeq: 0, untilSeq: Math.ceil(lastSeq / 3) } });
        for (const step of all) {
          if (step.kind === "wait") world.now += step.millis;
          else if (step.kind === "save") world.save();
          else if (step.kind === "kill") world.restart();
          else {
            for (const [index, task] of world.tasks().entries()) {
              // Some stay without an end, as if they were under way when the server dies.
              const bit = (step.bits >>> (index % 31)) & 3;
              if (bit === 0) world.end(task, 204);
              else if (bit < 3) world.end(task, 500);
              else world.window.giveBack(task);
            }
          }
          expect(world.retries.length).to.be.at.most(RETRIES_MAX);
        }
        // Each event is delivered, a retry, or behind the stored cursor.
        world.save();
        const known = new Set([...world.delivered, ...world.retries.map(({ seq }) => seq)]);
        for (let seq = 1; seq <= world.stored.settledSeq; seq++) expect(known.has(seq), String(seq)).to.equal(true);
        if (world.window.disabled !== undefined) return;
        // The endpoint heals, and everything arrives that was not given up.
        world.restart();
        for (let days = 0; days < 40; days++) {
          for (let tasks = world.tasks(); tasks.length > 0; tasks = world.tasks()) {
            for (const task of tasks) world.end(task, 204);
          }
          world.now += DAY_MILLIS;
        }
        world.save();
        const arrived = new Set(world.delivered);
        const givenUp = new Set(world.retries.map(({ seq }) => seq));
        for (let seq = 1; seq <= lastSeq; seq++)
          expect(arrived.has(seq) || givenUp.has(seq), String(seq)).to.equal(true);
        expect(world.retries.every(({ nextAt }) => nextAt === undefined)).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });
});
