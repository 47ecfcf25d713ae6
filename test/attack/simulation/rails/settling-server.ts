import type { Command, ResourceOf } from "../../../../src/domain/operations.js";
import type { RailAccountId } from "../../../../src/domain/payment.js";
import type { PayoutRow } from "../../../../src/domain/payout-file.js";
import type { Rail } from "../../../../src/domain/transaction.js";
import { MAX_CENTS, toCents } from "../../../../src/domain/values/cents.js";
import type { TransactionId } from "../../../../src/domain/values/ids.js";
import { toUnixMillis, type UnixMillis } from "../../../../src/domain/values/time.js";
import { Lease } from "../../../../src/leases/lease.js";
import { commitBatch } from "../../../../src/ledger/commit-batch.js";
import { DECIDED_LATER, type Outcome } from "../../../../src/ledger/ports/outcome.js";
import { StoreError } from "../../../../src/ledger/ports/store.js";
import type { OpenPart } from "../../../../src/payouts/ports.js";
import { redemptionOf } from "../../../../src/payouts/redemption.js";
import { PayoutRunner, type RowDecision } from "../../../../src/payouts/runner.js";
import { BankRail } from "../../../../src/rails/bank/bank.js";
import { SETTINGS } from "../../../../src/rails/bank/settings.js";
import type { OpenPayment } from "../../../../src/rails/order.js";
import type { PaymentRail, RailReport, Sent } from "../../../../src/rails/rail.js";
import { RailFaults } from "../../../../src/settlement/faults.js";
import type { RailAccount } from "../../../../src/settlement/ports/rail-accounts.js";
import type { SubmitWatch } from "../../../../src/settlement/ports/runtime.js";
import type { SettlementEvent } from "../../../../src/settlement/ports/runtime.js";
import { Settlement } from "../../../../src/settlement/settlement.js";
import { BOOKS_BEGIN } from "../disks/disk.js";
import { describeCommand } from "../report/trace.js";
import { isBankAccount, railAccountOf, termsOf } from "./given-organization.js";
import type { May, RailWorld } from "./rail-world.js";
import type { SimulatedRail } from "./simulated-rail.js";

/** A step of the server that waits for its turn. */
interface Turn {
  readonly what: string;
  readonly goOn: () => void;
  /** Undefined where nothing can fail. */
  readonly fail: ((error: StoreError) => void) | undefined;
}

interface Wait {
  /** By the monotonic clock of the server. */
  readonly at: number;
  readonly kind: "loop" | "lease" | "payouts" | "other";
  readonly resolve: () => void;
}

const STEP_WEIGHT = 10;
const WAKE_WEIGHT = 5;
const START_WEIGHT = 3;
// The loop of the settlement waits this long, and nothing else does.
const LOOP_MILLIS = 500;
const LOOP_LATE_MILLIS_MAX = 4_000;
const GRACE_MILLIS = 10_000;
const SKEW_MILLIS_MAX = 1_500;
// For so long a server uses the accounts that it has read.
const REFRESH_MILLIS = 2_000;
const CONFLICT_TRIES_MAX = 8;
// Most steps of the ports are taken at once, so that runs are short.
const TURN_SHARE = 0.3;
const COMMIT_TURN_SHARE = 0.6;
const CHECKS_MILLIS = [75_000, 45_000, 180_000, 600_000, 2_700_000, 12 * 3_600_000];
const SIMULATED = new Error("simulated");
/** The runner sends a row again that got one of these. Any other refusal is about the row. */
const LATER: ReadonlySet<string> = new Set([...DECIDED_LATER, "ORGANIZATION_SUSPENDED"]);

/**
 * One server with the real lease, the real settlement and the real runner of payouts. All else of
 * it is simulated.
 */
export class SettlingServer {
  readonly #world: RailWorld;
  readonly #rail: SimulatedRail;
  readonly #name: string;
  readonly #confirmAboveCents: number;
  #state: "up" | "stopping" | "down" = "down";
  /** Everything of an earlier life of the server goes on never. */
  #life = 0;
  #turns: Turn[] = [];
  #waits: Wait[] = [];
  #skewMillis = 0;
  /** How long the server has stood still. */
  #pausedMillis = 0;
  #pausedUntil = 0;
  #settlement: Settlement | undefined;
  #runner: PayoutRunner | undefined;
  #lease: Lease | undefined;
  /** The revisions of the accounts at the rail, as this life of the server has read them. */
  #revisions = new Map<RailAccountId, number>();
  #readAt = 0;
  /** The accounts, with their revision, whose initiator this life has seen refused. */
  readonly #refused = new Set<string>();
  /** The `#pausedMillis` when the accounts were read. */
  #pausedMillisThen = 0;

  constructor(world: RailWorld, given: { rail: SimulatedRail; name: string; confirmAboveCents: number }) {
    this.#world = world;
    this.#rail = given.rail;
    this.#name = given.name;
    this.#confirmAboveCents = given.confirmAboveCents;
  }

  wake(): void {
    if (this.#state === "up" && !this.#isPaused) this.#settlement?.wake();
  }

  /** Offers its next steps, and the faults that can happen to it. */
  offer(may: May, mayFail: May): void {
    if (this.#isPaused) return;
    if (this.#state === "down") {
      may(START_WEIGHT, () => {
        this.#start();
      });
      return;
    }
    for (const turn of this.#turns) this.#offerTurn(turn, may, mayFail);
    for (const wait of this.#waits) {
      if (wait.at > this.#monotonicMillis() || !this.#hasPurpose(wait)) continue;
      may(WAKE_WEIGHT, () => {
        wait.resolve();
      });
    }
    this.#offerFaults(mayFail);
  }

  #offerFaults(may: May): void {
    const { faults } = this.#world;
    // What happens to an idle server tests little.
    const share = this.#turns.length > 0 ? 1 : 0.1;
    may(share * faults.crash, () => {
      this.#crash();
    });
    may(this.#state === "up" ? share * faults.shutdown : 0, () => {
      this.#stop();
    });
    may(share * faults.pause, () => {
      this.#pause();
    });
    may(share * faults.clockJump, () => {
      this.#setClock();
    });
  }

  /** The times at which the server may go on: without `isBusy` not those of its idle loops. */
  nextTimes(isBusy: boolean): readonly number[] {
    if (this.#isPaused) return [this.#pausedUntil];
    const mayWork = (this.#lease?.leftMillis() ?? 0) > 0;
    const waits = this.#waits.filter((wait) => {
      const { kind } = wait;
      if (kind === "payouts") return this.#hasPurpose(wait);
      return kind === "other" || (isBusy && (mayWork || kind === "lease"));
    });
    return waits.map(({ at }) => at + this.#pausedMillis);
  }

  /** Without an open file the runner would only look, again and again. */
  #hasPurpose({ kind }: Wait): boolean {
    return kind !== "payouts" || this.#world.payoutFiles.isOpen;
  }

  get #isPaused(): boolean {
    return this.#pausedUntil > this.#world.millis;
  }

  #offerTurn(turn: Turn, may: May, mayFail: May): void {
    const take = (): void => {
      this.#turns = this.#turns.filter((other) => other !== turn);
    };
    may(STEP_WEIGHT, () => {
      take();
      turn.goOn();
    });
    const { fail } = turn;
    if (fail === undefined) return;
    mayFail(this.#world.faults.unavailable, () => {
      take();
      this.#world.tally.count("rail faults", `unavailable before ${turn.what}`);
      this.#world.note(this.#name, () => `the store fails before ${turn.what}`);
      fail(new StoreError("unavailable", SIMULATED));
    });
  }

  #start(): void {
    this.#setClock();
    this.#life += 1;
    this.#state = "up";
    this.#revisions.clear();
    this.#refused.clear();
    this.#world.note(this.#name, () => "starts");
    const { payments, inbox, leases, payoutFiles } = this.#world;
    const monotonicMillis = (): number => this.#monotonicMillis();
    const lease = new Lease({
      name: "settlement",
      holder: `${this.#name}, life ${String(this.#life)}`,
      store: this.#withTurns(leases, ["take"]),
      timing: { monotonicMillis, wait: (millis, signal) => this.#wait("lease", millis, signal) },
      onError: () => undefined,
    });
    const timing = {
      now: () => this.#now(),
      monotonicMillis,
      wait: (millis: number, signal: AbortSignal) =>
        this.#wait(millis === LOOP_MILLIS ? "loop" : "other", millis, signal),
    };
    const submitWatch: SubmitWatch = ({ refusedCredential, organizationId, revision }) => {
      // From now on this life of the server must not use it.
      if (refusedCredential !== undefined) this.#refused.add(`${railAccountOf(organizationId)} ${String(revision)}`);
      return Promise.resolve({ kind: "done", resource: {} as never, replayed: true });
    };
    const onEvent = (event: SettlementEvent): void => {
      this.#world.tally.count("rail events", event.kind);
      this.#world.note(this.#name, () => JSON.stringify(event));
      if (event.kind === "error" && !(event.error instanceof StoreError)) {
        this.#world.violated(`an error of ${this.#name}`, "none", event.error);
      }
    };
    const settlement = new Settlement({
      payments: this.#withTurns(payments, ["accountsWithDue", "due", "payment", "reschedule"]),
      inbox: this.#withTurns(inbox, ["due", "postpone", "settle", "messages"]),
      railAccounts: { account: (id) => this.#account(id), refresh: () => this.#refresh() },
      lease,
      submit: (command, deadline) => this.#submit(command, deadline),
      newTransactionId: () => this.#world.newId("late") as TransactionId,
      timing,
      submitWatch,
      faults: new RailFaults({ submitWatch, timing, onEvent }),
      closePayouts: () => Promise.resolve(),
      onEvent,
    });
    const runner = new PayoutRunner({
      store: this.#withTurns(payoutFiles, ["open", "finish"]),
      // The lease guards nothing, so each server believes that it has it.
      lease: { leftMillis: () => 1_000 },
      redeem: ({ organizationId, sha256, rail }, row) => this.#redeem({ organizationId, sha256, rail }, row),
      timing: { ...timing, wait: (millis, signal) => this.#wait("payouts", millis, signal) },
      onError: (error) => {
        onEvent({ kind: "error", error });
      },
    });
    lease.start();
    settlement.start();
    runner.start();
    [this.#lease, this.#settlement, this.#runner] = [lease, settlement, runner];
  }

  #crash(): void {
    this.#world.tally.count("rail crashes", this.#turns[0]?.what ?? "idle");
    this.#world.note(this.#name, () => `CRASHES, before: ${this.#turns.map(({ what }) => what).join(", ")}`);
    this.#end();
  }

  /** Stops the settlement as a server does that is told to. */
  #stop(): void {
    this.#world.tally.count("rail faults", "shutdown");
    this.#world.note(this.#name, () => "begins to stop");
    this.#state = "stopping";
    const life = this.#life;
    const [lease, settlement, runner] = [this.#lease, this.#settlement, this.#runner];
    void Promise.all([settlement?.stop(GRACE_MILLIS), runner?.stop()])
      .then(() => lease?.stop())
      .then(() => {
        if (this.#life !== life || this.#state !== "stopping") return;
        this.#world.note(this.#name, () => "has stopped");
        this.#end();
      });
  }

  #end(): void {
    this.#state = "down";
    this.#turns = [];
    this.#waits = [];
    this.#life += 1;
  }

  #pause(): void {
    const millis = this.#world.random.pick([30_000, 70_000, 180_000]);
    this.#world.tally.count("rail faults", "pause");
    this.#world.note(this.#name, () => `stands still for ${String(millis)} ms`);
    this.#pausedUntil = this.#world.millis + millis;
    this.#pausedMillis += millis;
  }

  #setClock(): void {
    this.#skewMillis = this.#world.random.between(-SKEW_MILLIS_MAX, SKEW_MILLIS_MAX);
  }

  #now(): UnixMillis {
    return toUnixMillis(BOOKS_BEGIN + this.#world.millis + this.#skewMillis);
  }

  #monotonicMillis(): number {
    return this.#world.millis - this.#pausedMillis;
  }

  #wait(kind: Wait["kind"], millis: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) {
        resolve();
        return;
      }
      // Fewer looks make shorter runs.
      const lateMillis = kind === "loop" ? this.#world.random.below(LOOP_LATE_MILLIS_MAX) : 0;
      const at = this.#monotonicMillis() + millis + lateMillis;
      const end = (): void => {
        signal.removeEventListener("abort", end);
        this.#waits = this.#waits.filter((other) => other !== wait);
        resolve();
      };
      const wait: Wait = { at, kind, resolve: end };
      this.#waits.push(wait);
      signal.addEventListener("abort", end);
    });
  }

  /** Waits for the turn of a step, or takes it at once. Never resolves in a later life. */
  #turn(what: string, { share, canFail }: { share: number; canFail: boolean }): Promise<void> {
    const life = this.#life;
    return new Promise((resolve, reject) => {
      if (!this.#world.random.chance(share)) {
        resolve();
        return;
      }
      const goOn = (): void => {
        if (this.#life === life) resolve();
      };
      this.#turns.push({ what, goOn, fail: canFail ? reject : undefined });
    });
  }

  /** The port, with a turn before each of these methods. */
  #withTurns<Port extends object>(port: Port, names: readonly (keyof Port & string)[]): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        const method = value.bind(target) as (...args: unknown[]) => Promise<unknown>;
        if (!names.includes(name as keyof Port & string)) return method;
        return async (...args: unknown[]) => {
          await this.#turn(String(name), { share: TURN_SHARE, canFail: true });
          return method(...args);
        };
      },
    });
  }

  /** Redeems a row as the service does. */
  async #redeem(
    file: Pick<OpenPart["file"], "organizationId" | "sha256" | "rail">,
    row: PayoutRow,
  ): Promise<RowDecision> {
    const railTerms = termsOf(file.organizationId, file.rail);
    const newTransactionId = this.#world.newId("txn") as TransactionId;
    const command = redemptionOf(row, { ...file, railTerms, newTransactionId });
    const outcome = await this.#submit(command, toUnixMillis(this.#now() + GRACE_MILLIS));
    if (outcome.kind === "done") return { kind: "accepted" };
    const { reason } = outcome.refusal;
    return LATER.has(reason) ? { kind: "later" } : { kind: "refused", reason };
  }

  async #submit<C extends Command>(command: C, deadline: UnixMillis): Promise<Outcome<ResourceOf<C>>> {
    await this.#turn("submit", { share: TURN_SHARE, canFail: false });
    if (this.#now() >= deadline) return { kind: "refused", refusal: { reason: "DEADLINE_EXCEEDED" } };
    for (let tries = 1; ; tries += 1) {
      try {
        return (await this.#commit(command)) as Outcome<ResourceOf<C>>;
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        if (error.kind !== "conflict" || tries === CONFLICT_TRIES_MAX) {
          return { kind: "refused", refusal: { reason: "STORAGE_UNAVAILABLE" } };
        }
        this.#world.tally.count("rail faults", "lost race");
      }
    }
  }

  async #commit(command: Command): Promise<Outcome<unknown>> {
    let wasSuspended = false;
    const store = this.#world.disk.open().store({
      before: async (point) => {
        const share = point === "commit" || point === "answer" ? COMMIT_TURN_SHARE : 0;
        if (share > 0) await this.#turn(point, { share, canFail: true });
      },
      committed: () => {
        this.#world.note(this.#name, () => `COMMITTED ${describeCommand(command)}`);
        wasSuspended = this.#world.suspended.has(command.organizationId);
        // From now on any server can ask the rail.
        if (command.name === "redeem") this.#rail.acceptedRow(command);
      },
    });
    const [result] = await commitBatch(store, [command], this.#now());
    if (result === undefined || result.kind === "bug") throw new Error("a bug", { cause: result });
    this.#world.tally.count("rail commands", `${command.name}: ${wordOf(result)}`);
    if (result.kind === "done" && !result.replayed) this.#world.watchEffect(command, wasSuspended);
    return result;
  }

  #account(id: RailAccountId): RailAccount {
    const { payments } = this.#world;
    const organizationId = payments.all().find(({ railAccountId }) => railAccountId === id)?.organizationId;
    if (organizationId === undefined) throw new Error(`no organization has ${id}`);
    if (this.#monotonicMillis() - this.#readAt >= REFRESH_MILLIS) this.#read();
    const revision = this.#revisions.get(id) ?? this.#world.disk.railRevision(id);
    this.#revisions.set(id, revision);
    return {
      id,
      organizationId,
      rail: isBankAccount(id)
        ? new BankRail(SETTINGS.parse(JSON.parse(this.#world.shortcodeOf(id, revision))))
        : this.#adapter({ id, revision, shortcode: this.#world.shortcodeOf(id, revision) }),
      payouts: "open",
      beginWithinMillis: 120_000,
      confirmAboveCents: this.#confirmAboveCents as RailAccount["confirmAboveCents"],
      resolveAloneMaxCents: 0,
      revision,
      changedAt: this.#world.changedAt(id),
      refused: undefined,
      isUntried: false,
    };
  }

  async #refresh(): Promise<void> {
    await this.#turn("refresh", { share: TURN_SHARE, canFail: false });
    this.#world.tally.count("rail", "accounts read again");
    this.#read();
  }

  /** Forgets what was read: each account is read again when it is needed. */
  #read(): void {
    this.#revisions.clear();
    this.#readAt = this.#monotonicMillis();
    this.#pausedMillisThen = this.#pausedMillis;
  }

  /** The rail, as this life of the server reaches it. */
  #adapter({ id, revision, shortcode }: { id: RailAccountId; revision: number; shortcode: string }): PaymentRail {
    const pausedMillis = this.#pausedMillisThen;
    const isRefused = this.#world.refuses(id, revision);
    const watch = ({ direction }: Pick<OpenPayment, "direction">): void => {
      if (direction !== "REDEEM" || !this.#refused.has(`${id} ${String(revision)}`)) return;
      this.#world.violated(`the requests of ${this.#name} with a credential that it saw refused`, "none", "one");
    };
    return {
      name: "simulated" as Rail,
      checkAfterMillis: CHECKS_MILLIS,
      capabilities: () => ({ minCents: toCents(1), maxCents: MAX_CENTS, stepCents: toCents(1), phoneNumbers: /./ }),
      send: async (order, signal) => {
        if (signal.aborted) return { kind: "unreached", code: "ABORTED", retryAfterMillis: 1_000 };
        watch(order);
        const refused = isRefused && order.direction === "REDEEM";
        const sent = await new Promise<Sent>((resolve) => {
          this.#rail.request(this.#name, { order, shortcode, isRefused: refused }, resolve);
        });
        await this.#turn("the rail's answer", { share: COMMIT_TURN_SHARE, canFail: false });
        return sent;
      },
      query: async (payment) => {
        // A server that stood still may ask at a shortcode of before. It learns nothing there.
        const hasStoodStill = this.#pausedMillis !== pausedMillis;
        watch(payment);
        const report = this.#rail.query(this.#name, payment, {
          shortcode: hasStoodStill ? undefined : shortcode,
          isRefused: isRefused && payment.direction === "REDEEM",
        });
        await this.#turn("the query's answer", { share: COMMIT_TURN_SHARE, canFail: false });
        return report;
      },
      read: ({ body }) => JSON.parse(body) as RailReport,
      askBalance: () => Promise.resolve({ kind: "unavailable", code: "NO_BALANCE" }),
      readBalance: () => undefined,
    };
  }
}

function wordOf(result: { kind: string; replayed?: boolean; refusal?: { reason: string } }): string {
  return result.refusal?.reason ?? (result.replayed === true ? "replay" : result.kind);
}
