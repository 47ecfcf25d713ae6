import { Loop } from "../../runtime/loop.js";
import { slicesOf } from "../../runtime/slices.js";
import type { CheckAnswer } from "../domain/payout-check.js";
import type { OrganizationId, TransactionId } from "../domain/values/ids.js";
import type { Ask } from "./ask.js";
import {
  FAILING_RUNS_MAX,
  LEASE_LEFT_MILLIS_MIN,
  LOOK_MILLIS,
  PAGE_PAYOUTS,
  RESTS_PER_LOOK,
  RUNS_MAX,
  TRIES_MAX,
  TRY_MILLIS_MAX,
  UNDER_WAY_MAX,
} from "./limits.js";
import type { CheckDecision, CheckStore, CheckTiming, StandingCheck, WaitingPayout } from "./ports.js";

export interface ChecksOptions {
  readonly store: CheckStore;
  readonly lease: { leftMillis(): number };
  readonly ask: Ask;
  /** Gives the decision to the ledger. The first one about a payout counts. */
  readonly decide: (organizationId: OrganizationId, id: TransactionId, decision: CheckDecision) => Promise<void>;
  readonly onDecided: (answer: CheckAnswer) => void;
  readonly timing: CheckTiming;
  readonly onError: (error: unknown) => void;
}

/** What this process knows of the service of one organization. */
interface Service {
  /** The row that has set its check. Another one is another service, of which nothing is known. */
  seq: number | undefined;
  /** Since when it has given no answer, by the monotonic clock. Undefined while it answers. */
  failingSince: number | undefined;
  lastRunAt: number;
  /** The payouts about which it was asked without an answer. */
  readonly tried: Map<TransactionId, { readonly firstAt: number; readonly tries: number }>;
}

const NO_ANSWER: CheckDecision = { answer: "NO_ANSWER", code: undefined, exchangeSha256: undefined };

/**
 * Asks the services of organizations about the payouts that wait for them. The services take turns:
 * each has a run with its oldest payouts. One failure ends the run, and after five seconds it
 * begins no more requests. So a service that never answers holds one request of five seconds, one
 * that answers slowly holds its place for ten, and those that answer always find room.
 *
 * The tries are in memory. After a stop a payout is asked about again, with the same id, and the
 * ledger takes the first answer.
 */
export class PayoutChecks {
  readonly #options: ChecksOptions;
  readonly #loop: Loop;
  readonly #services = new Map<OrganizationId, Service>();
  readonly #runs = new Map<OrganizationId, Promise<void>>();

  constructor(options: ChecksOptions) {
    this.#options = options;
    this.#loop = new Loop({ step: () => this.#look(), wait: options.timing.wait });
  }

  start(): void {
    this.#loop.start();
  }

  /** Ends the requests under way. Their payouts wait for the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    await Promise.all(this.#runs.values());
  }

  async #look(): Promise<number> {
    const { store, timing, onError } = this.#options;
    if (!this.#mayAsk()) return LOOK_MILLIS;
    const begun = timing.monotonicMillis();
    try {
      const waiting = await store.organizations();
      for (const id of this.#services.keys()) {
        if (!this.#runs.has(id) && !waiting.includes(id)) this.#services.delete(id);
      }
      this.#startRuns(waiting);
    } catch (error) {
      onError(error);
    }
    return Math.max(LOOK_MILLIS, (timing.monotonicMillis() - begun) * RESTS_PER_LOOK);
  }

  /** The lease can end, and the checks can stop, between two requests. */
  #mayAsk(): boolean {
    return !this.#loop.isStopped && this.#options.lease.leftMillis() >= LEASE_LEFT_MILLIS_MIN;
  }

  /** Those that have waited longest for a run come first. */
  #startRuns(waiting: readonly OrganizationId[]): void {
    const { timing, onError } = this.#options;
    const idle = waiting.filter((id) => !this.#runs.has(id)).map((id) => ({ id, service: this.#serviceOf(id) }));
    for (const { id, service } of idle.toSorted((one, other) => one.service.lastRunAt - other.service.lastRunAt)) {
      if (this.#runs.size >= RUNS_MAX) return;
      if (service.failingSince !== undefined && this.#failingRuns() >= FAILING_RUNS_MAX) continue;
      const run = this.#run(id, service)
        .catch(onError)
        .finally(() => {
          // A run that failed, too, goes behind the others.
          service.lastRunAt = timing.monotonicMillis();
          this.#runs.delete(id);
        });
      this.#runs.set(id, run);
    }
  }

  #failingRuns(): number {
    return [...this.#runs.keys()].filter((id) => this.#services.get(id)?.failingSince !== undefined).length;
  }

  #serviceOf(id: OrganizationId): Service {
    const service = this.#services.get(id) ?? {
      seq: undefined,
      failingSince: undefined,
      lastRunAt: -Infinity,
      tried: new Map(),
    };
    this.#services.set(id, service);
    return service;
  }

  async #run(id: OrganizationId, service: Service): Promise<void> {
    const { store } = this.#options;
    const standing = await store.standing(id);
    if (service.seq !== standing?.check.seq) {
      service.seq = standing?.check.seq;
      service.failingSince = undefined;
      service.tried.clear();
    }
    const payouts = await store.waiting(id, PAGE_PAYOUTS);
    for (const tried of service.tried.keys()) {
      if (!payouts.some((payout) => payout.id === tried)) service.tried.delete(tried);
    }
    const over = payouts.filter((payout) => this.#isOver(service, standing, payout));
    for (const some of slicesOf(over, UNDER_WAY_MAX)) {
      await Promise.all(some.map((payout) => this.#decide(id, payout.id, NO_ANSWER)));
    }
    if (standing !== undefined) {
      const ready = payouts.filter((each) => !over.includes(each) && this.#isReady(service, standing, each));
      await this.#askAbout(id, service, { standing, ready });
    }
  }

  /**
   * One failure ends the run. The next one asks once, to find out whether the service answers. The
   * time of one request ends it, too: a slow service would otherwise keep its place for minutes.
   */
  async #askAbout(
    id: OrganizationId,
    service: Service,
    { standing, ready }: { readonly standing: StandingCheck; readonly ready: readonly WaitingPayout[] },
  ): Promise<void> {
    const { timing } = this.#options;
    const isFailing = service.failingSince !== undefined;
    const end = timing.monotonicMillis() + TRY_MILLIS_MAX;
    const mayGoOn = (): boolean => !hasFailed && timing.monotonicMillis() < end && this.#mayAsk();
    const left = isFailing ? ready.slice(0, 1) : [...ready];
    let hasFailed = false;
    const next = async (): Promise<void> => {
      for (let payout = left.shift(); payout !== undefined && mayGoOn(); payout = left.shift()) {
        if (!(await this.#ask(id, service, standing, payout))) hasFailed = true;
      }
    };
    await Promise.all(Array.from({ length: UNDER_WAY_MAX }, next));
  }

  /** Returns whether the service has answered. */
  async #ask(
    organizationId: OrganizationId,
    service: Service,
    standing: StandingCheck,
    { id }: WaitingPayout,
  ): Promise<boolean> {
    const { store, ask, timing } = this.#options;
    const payout = await store.payout(organizationId, id);
    if (payout === undefined) return true;
    const begun = timing.monotonicMillis();
    const asked = await ask(standing, payout, this.#loop.signal);
    if (asked.answer === undefined) {
      // A stop ends a request, and says nothing about the service.
      if (this.#loop.isStopped) return false;
      const { firstAt = begun, tries = 0 } = service.tried.get(id) ?? {};
      service.tried.set(id, { firstAt, tries: tries + 1 });
      service.failingSince ??= begun;
      return false;
    }
    service.failingSince = undefined;
    service.tried.delete(id);
    const { answer, code, exchangeSha256 } = asked;
    await this.#decide(organizationId, id, { answer, code, exchangeSha256 });
    return true;
  }

  async #decide(organizationId: OrganizationId, id: TransactionId, decision: CheckDecision): Promise<void> {
    const { decide, onDecided, onError } = this.#options;
    try {
      await decide(organizationId, id, decision);
      onDecided(decision.answer);
    } catch (error) {
      onError(error);
    }
  }

  /** Whether the time for an answer is over. Without a check nobody can answer. */
  #isOver(
    { tried, failingSince }: Service,
    standing: StandingCheck | undefined,
    { id, acceptedAt }: WaitingPayout,
  ): boolean {
    const { timing } = this.#options;
    if (standing === undefined) return true;
    const deadlineMillis = standing.check.deadlineSeconds * 1_000;
    const monotonic = timing.monotonicMillis();
    const own = tried.get(id);
    if (own !== undefined) return own.tries >= TRIES_MAX || monotonic - own.firstAt >= deadlineMillis;
    // Each payout that waits is not asked about by itself while the service is down for that long.
    const isDown = failingSince !== undefined && monotonic - failingSince >= deadlineMillis;
    return isDown && timing.now() - acceptedAt >= deadlineMillis;
  }

  /** The tries about a payout are a third of its time apart. */
  #isReady({ tried }: Service, { check }: StandingCheck, { id }: WaitingPayout): boolean {
    const own = tried.get(id);
    if (own === undefined) return true;
    const wait = (check.deadlineSeconds * 1_000 * own.tries) / TRIES_MAX;
    return this.#options.timing.monotonicMillis() - own.firstAt >= wait;
  }
}
