import type { MoveMoney } from "../../../../src/domain/money/move-money.js";
import type { RailReceipt } from "../../../../src/domain/payment.js";
import { BANK_RAIL } from "../../../../src/domain/transaction.js";
import { type Cents, formatCents, toCents } from "../../../../src/domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import { maskPhone } from "../../../../src/domain/values/masked-phone.js";
import type { PhoneNumber } from "../../../../src/domain/values/phone-number.js";
import type { CallbackPurpose } from "../../../../src/rails/callback-token.js";
import type { OpenPayment, RailOrder } from "../../../../src/rails/order.js";
import type { RailReport, Sent } from "../../../../src/rails/rail.js";
import type { RailWorld } from "./rail-world.js";

const SECOND_MILLIS = 1_000;
const MINUTE_MILLIS = 60 * SECOND_MILLIS;
const HOUR_MILLIS = 60 * MINUTE_MILLIS;

/** For how long the rail refuses to take a payout with the same id again. */
const MEMORY_MILLIS = 12 * MINUTE_MILLIS;

const UNREACHED: Sent = { kind: "unreached", code: "BUSY", retryAfterMillis: SECOND_MILLIS };
const TURNED_AWAY: Sent = { ...UNREACHED, isTurnedAway: true };
const REJECTED: Sent = { kind: "rejected", code: "2028", failure: "RAIL_REFUSED" };
const REFUSED_INITIATOR = { kind: "credentials", credential: "initiator", code: "2001" } as const;
/** What becomes of a payout of an initiator that the rail refuses: nothing moves. */
const OF_REFUSED = { outcome: "failed", liesFor: 0, contradicts: false, lateAfter: undefined } as const;
// A rail that has the payout should say so. It may as well say anything else.
const DUPLICATES: readonly Sent[] = [{ kind: "accepted", railReference: undefined }, REJECTED, UNREACHED];

/** How an order moves. Only a payout to a phone has an id at the rail, which takes it once. */
export type Way = "prompt" | "to a phone" | "to a business";

/** What the seed has chosen for one order. */
interface Plan {
  /** `turned away`: the rail says so of an order without an id, and takes it all the same. */
  readonly answer: "accepted" | "rejected" | "lost" | "turned away";
  /** How often the first requests do not reach the rail. */
  unreached: number;
  /** What the rail says to a payout that it has already. */
  readonly again: Sent;
  readonly arrivesAfter: number;
  readonly answersAfter: number;
  readonly outcome: "succeeded" | "failed" | "open";
  /** Whether a callback has a code of which nobody is sure, if the outcome stays open. */
  readonly isUnclear: boolean;
  readonly outcomeAfter: number;
  /** Undefined if a failure is the end. */
  readonly lateAfter: number | undefined;
  readonly callbacks: number;
  readonly callbackAfter: number;
  readonly forged: "none" | "success" | "failure";
  /** What moves, if it is not what was ordered. A callback always tells. */
  readonly otherCents: Cents | undefined;
  /** For so long after the outcome, queries report its opposite. */
  readonly liesFor: number;
  /** Whether one callback reports the opposite of the others. */
  readonly contradicts: boolean;
}

/** An order that the rail took. */
interface Taken {
  readonly movement: string;
  readonly order: RailOrder;
  readonly takenAt: number;
  readonly receipt: RailReceipt;
  /** The shortcode to which the order went. */
  readonly shortcode: string;
  /** Whether the rail has refused the initiator, and so the order. */
  readonly isRefused: boolean;
  /** What moves, if it succeeds. */
  readonly cents: Cents;
  /** Until then queries report the opposite of the outcome. */
  liesUntil: number;
  state: "open" | "succeeded" | "failed";
}

/** An order, and the shortcode to which a server sends it. */
interface Request {
  readonly order: RailOrder;
  readonly shortcode: string;
  /** Whether the rail refuses the initiator. */
  readonly isRefused: boolean;
}

interface Known {
  readonly organizationId: OrganizationId;
  readonly way: Way;
  readonly plan: Plan;
  readonly taken: Taken[];
  /** The servers that have asked for the outcome since they sent the order last. */
  readonly askedBy: Set<string>;
  /** Whether a request was sent that may have arrived. */
  isSent: boolean;
}

/** What the rail has moved for one organization: in for mints, less out for redemptions. */
export interface Moved {
  readonly cents: number;
  readonly receipts: readonly string[];
}

/**
 * The truth: which orders the rail took, and what moved. It does with each order what the seed has
 * chosen. It also watches what servers ask of it.
 */
export class SimulatedRail {
  readonly #world: RailWorld;
  readonly #orders = new Map<TransactionId, Known>();
  /** Whether the answer to a query for a payout comes with a message. */
  readonly #answersLater: boolean;
  readonly #forges: boolean;
  /** Whether the rail may contradict itself. */
  readonly #contradicts: boolean;

  constructor(world: RailWorld, { forges }: { forges: boolean }) {
    this.#world = world;
    this.#answersLater = world.random.chance(0.5);
    this.#forges = forges;
    this.#contradicts = world.random.chance(0.5);
  }

  /** The service has accepted an order. Forgeries may come before anybody asks the rail. */
  accepted(transactionId: TransactionId, organizationId: OrganizationId, way: Way): void {
    const plan = this.#planOf(way);
    this.#orders.set(transactionId, { organizationId, way, plan, taken: [], askedBy: new Set(), isSent: false });
    if (plan.forged === "none") return;
    const after = this.#world.random.pick([0, 10 * SECOND_MILLIS, 10 * MINUTE_MILLIS]);
    this.#world.after(after, `somebody forges a ${plan.forged}`, () => {
      this.#forge(transactionId, plan.forged);
    });
  }

  /** A row of a file was redeemed, unless the redemption was refused or was there. */
  acceptedRow({ newTransactionId, organizationId, destinationId, rail }: MoveMoney): void {
    if (rail === BANK_RAIL || !this.#world.disk.transactions.has(newTransactionId)) return;
    this.accepted(newTransactionId, organizationId, destinationId === undefined ? "to a phone" : "to a business");
  }

  /** A server is about to send the order. Returns what the network does with the request. */
  request(server: string, request: Request, answer: (sent: Sent) => void): void {
    const { order } = request;
    const known = this.#known(order.transactionId);
    const { plan } = known;
    this.#watchRequest(server, request, known);
    if (plan.unreached > 0) {
      plan.unreached -= 1;
      const retryAfterMillis = this.#world.random.pick([SECOND_MILLIS, 20 * SECOND_MILLIS]);
      answer({ kind: "unreached", code: "BUSY", retryAfterMillis });
      return;
    }
    known.isSent = true;
    known.askedBy.delete(server);
    this.#world.after(plan.arrivesAfter, `the request for ${order.transactionId} arrives`, () => {
      const sent = this.#take(request, known);
      if (plan.answer === "lost") answer({ kind: "unknown", code: "CONNECTION_RESET" });
      else {
        this.#world.after(plan.answersAfter, "the rail answers", () => {
          answer(sent);
        });
      }
    });
  }

  /** Without a shortcode, the payment may be asked about where it was not sent. */
  query(
    server: string,
    payment: OpenPayment,
    { shortcode, isRefused }: { shortcode: string | undefined; isRefused: boolean },
  ): RailReport {
    const known = this.#known(payment.transactionId);
    if (shortcode !== undefined) this.#watchQuery(payment, shortcode, known);
    known.askedBy.add(server);
    if (this.#isLost()) return { kind: "open", code: "NO_ANSWER" };
    if (this.#world.random.chance(this.#world.faults.badQuestions)) {
      this.#world.tally.count("rail", "questions without a code");
      const fault = { kind: "request", request: "/status", code: "NO_RESPONSE_CODE" } as const;
      return { kind: "open", code: "NO_RESPONSE_CODE", place: "/status", fault };
    }
    if (isRefused) {
      this.#world.tally.count("rail", "questions of a refused initiator");
      return { kind: "open", code: "2001", fault: REFUSED_INITIATOR };
    }
    const taken = known.way === "to a phone" ? known.taken[0] : this.#movementNamed(payment.railReference);
    if (known.way !== "to a phone" && taken === undefined) return { kind: "open", code: "NO_REFERENCE" };
    if (known.way === "prompt" && taken !== undefined) return shortOf(this.#answerAbout(taken));
    if (!this.#answersLater) return this.#statusOf(taken);
    const after = this.#world.random.pick([SECOND_MILLIS, 10 * SECOND_MILLIS, 2 * MINUTE_MILLIS]);
    this.#world.after(after, "the rail answers a status query", () => {
      if (!this.#isLost()) this.#send(payment.transactionId, this.#statusOf(taken), "status");
    });
    return { kind: "open", code: "STATUS_REQUESTED" };
  }

  /** What moved, by the truth. */
  moved(organizationId: OrganizationId): Moved {
    const all = [...this.#orders.values()].filter((known) => known.organizationId === organizationId);
    const moved = all.flatMap(({ taken }) => taken).filter(({ state }) => state === "succeeded");
    const cents = moved.reduce((sum, { order, cents: each }) => {
      return order.direction === "MINT" ? sum + each : sum - each;
    }, 0);
    // A report that is wrong names a receipt, too.
    return { cents, receipts: all.flatMap(({ taken }) => taken).map(({ receipt }) => receipt) };
  }

  knows(transactionId: TransactionId): boolean {
    return this.#orders.has(transactionId);
  }

  /** What moved for one order, as a person finds out who asks the rail. */
  movedFor(transactionId: TransactionId): readonly Pick<Taken, "receipt" | "cents">[] {
    return this.#known(transactionId).taken.filter(({ state }) => state === "succeeded");
  }

  #planOf(way: Way): Plan {
    const { random } = this.#world;
    const outcome = random.pick(["succeeded", "succeeded", "succeeded", "failed", "failed", "open"] as const);
    const isLate = way === "prompt" && outcome === "failed" && random.chance(0.5);
    const isForged = this.#forges && random.chance(0.3);
    const last = way === "to a phone" ? "rejected" : "turned away";
    const answers = ["accepted", "accepted", "accepted", "lost", "lost", last] as const;
    const answer = random.pick(answers);
    const doubtful = this.#contradicts ? random.pick(["amount", "query", "callback", "none"] as const) : "none";
    return {
      answer,
      unreached: random.chance(0.25) ? 1 + random.below(2) : 0,
      again: random.pick(DUPLICATES),
      arrivesAfter: random.pick([0, 0, 100, 2 * SECOND_MILLIS, 25 * SECOND_MILLIS]),
      answersAfter: random.pick([0, 100, 3 * SECOND_MILLIS, 25 * SECOND_MILLIS]),
      outcome,
      isUnclear: random.chance(0.5),
      outcomeAfter: random.pick([0, SECOND_MILLIS, 30 * SECOND_MILLIS, 5 * MINUTE_MILLIS, 3 * HOUR_MILLIS]),
      lateAfter: isLate ? random.pick([MINUTE_MILLIS, 20 * MINUTE_MILLIS, 5 * HOUR_MILLIS]) : undefined,
      callbacks: doubtful === "none" && answer !== "turned away" ? random.pick([0, 1, 1, 2]) : 1,
      callbackAfter: random.pick([0, 0, 2 * SECOND_MILLIS, MINUTE_MILLIS, HOUR_MILLIS]),
      forged: isForged ? random.pick(["success", "failure"] as const) : "none",
      otherCents: doubtful === "amount" ? toCents(1 + random.below(50_000)) : undefined,
      liesFor: doubtful === "query" ? random.pick([10 * MINUTE_MILLIS, Infinity]) : 0,
      contradicts: doubtful === "callback",
    };
  }

  /** The rail has the request. */
  #take({ order, shortcode, isRefused }: Request, { way, plan, taken }: Known): Sent {
    if (plan.answer === "rejected") return REJECTED;
    const { transactionId } = order;
    const before = taken.at(-1);
    if (way === "to a phone" && before !== undefined && this.#world.millis - before.takenAt < MEMORY_MILLIS) {
      return plan.again;
    }
    const movement = way === "to a phone" ? transactionId : this.#world.newId("ws");
    const receipt = this.#world.newId("R") as RailReceipt;
    const cents = plan.otherCents ?? order.amountCents;
    const { millis: takenAt } = this.#world;
    const now: Taken = { movement, order, shortcode, isRefused, takenAt, receipt, cents, liesUntil: 0, state: "open" };
    taken.push(now);
    this.#world.tally.count("rail", `orders taken, ${way}`);
    const max = way === "prompt" && plan.answer === "turned away" ? 2 : 1;
    if (taken.length > max) this.#world.violated(`how often the rail took ${transactionId}`, max, taken.length);
    this.#decide(now, isRefused ? { ...plan, ...OF_REFUSED } : plan);
    if (plan.answer === "turned away") return TURNED_AWAY;
    return { kind: "accepted", railReference: way === "to a phone" ? undefined : movement };
  }

  /** Arranges what becomes of the order. */
  #decide(taken: Taken, plan: Plan): void {
    const { outcome, outcomeAfter, lateAfter, callbacks, callbackAfter, liesFor, contradicts, isUnclear } = plan;
    if (outcome === "open") {
      if (!isUnclear) return;
      this.#atOnceOrAfter(outcomeAfter, "a callback has a code that nobody is sure of", () => {
        this.#world.tally.count("rail", "unclear callbacks");
        this.#call(taken, { kind: "open", code: "1031", place: "result", isUnclear: true });
      });
      return;
    }
    this.#atOnceOrAfter(outcomeAfter, `the rail ends ${taken.movement}: ${outcome}`, () => {
      taken.state = outcome;
      taken.liesUntil = this.#world.millis + liesFor;
      if (contradicts) {
        this.#world.tally.count("rail", "contradicting callbacks");
        this.#atOnceOrAfter(this.#world.random.pick([0, MINUTE_MILLIS]), "a callback contradicts the outcome", () => {
          this.#call(taken, reportOf(taken, oppositeOf(outcome)), false);
        });
      }
      for (let count = 0; count < callbacks; count += 1) {
        this.#atOnceOrAfter(callbackAfter, "a callback arrives", () => {
          this.#call(taken, reportOf(taken, outcome));
        });
      }
    });
    if (lateAfter === undefined) return;
    this.#world.after(outcomeAfter + lateAfter, `${taken.movement} is paid late`, () => {
      taken.state = "succeeded";
      this.#world.tally.count("rail", "late successes");
      this.#world.after(callbackAfter, "a late callback arrives", () => {
        this.#call(taken, reportOf(taken, "succeeded"));
      });
    });
  }

  #atOnceOrAfter(millis: number, what: string, run: () => void): void {
    if (millis === 0) run();
    else this.#world.after(millis, what, run);
  }

  #forge(transactionId: TransactionId, what: Plan["forged"]): void {
    this.#world.tally.count("rail", `forged: ${what}`);
    const { way, taken } = this.#known(transactionId);
    const movement = way === "to a phone" ? transactionId : (taken[0]?.movement ?? "forged");
    const nothing = { amountCents: undefined, phone: undefined };
    const report: RailReport =
      what === "success"
        ? {
            kind: "succeeded",
            movement: way === "to a phone" ? movement : "forged",
            receipt: "FORGED" as RailReceipt,
            ...nothing,
          }
        : { kind: "failed", movement, code: "1032", failure: "CANCELED_BY_PAYER" };
    this.#send(transactionId, report, way === "prompt" ? "collect" : "pay_out");
  }

  #call({ order }: Taken, report: RailReport, isTrue = true): void {
    this.#send(order.transactionId, { ...report, isTrue }, order.direction === "MINT" ? "collect" : "pay_out");
  }

  #send(transactionId: TransactionId, report: RailReport | Told, purpose: CallbackPurpose): void {
    this.#world.tally.count("rail", `messages: ${purpose}`);
    this.#world.note("rail", () => `sends ${purpose} about ${transactionId}: ${JSON.stringify(report)}`);
    // Two callbacks about one movement differ in their text.
    const body = JSON.stringify({ ...report, at: this.#world.millis });
    void this.#world.inbox.add({ transactionId, purpose, body }, this.#world.now).then((added) => {
      if (added === "full") this.#world.violated(`the room for ${purpose} about ${transactionId}`, "some", "none");
    });
  }

  #statusOf(taken: Taken | undefined): RailReport {
    if (taken === undefined) return { kind: "open", code: "STATUS_OPEN" };
    const report = this.#answerAbout(taken);
    if (report.kind !== "succeeded" || !this.#contradicts || this.#world.random.chance(0.5)) return report;
    this.#world.tally.count("rail", "answers without an amount");
    return { ...report, amountCents: undefined, phone: undefined };
  }

  #answerAbout(taken: Taken): RailReport {
    const { state, liesUntil } = taken;
    if (state === "open") return { kind: "open", code: "PENDING" };
    // A query tells the status of the order, and not the code.
    if (this.#world.millis >= liesUntil) return reportOf({ ...taken, isRefused: false }, state);
    this.#world.tally.count("rail", `queries that deny: ${state}`);
    return reportOf(taken, oppositeOf(state));
  }

  #movementNamed(movement: string | undefined): Taken | undefined {
    const all = [...this.#orders.values()].flatMap(({ taken }) => taken);
    return all.find((taken) => taken.movement === movement);
  }

  #isLost(): boolean {
    return this.#world.random.chance(this.#world.faults.lostQueries);
  }

  /** What must hold of each request. */
  #watchRequest(server: string, { order, shortcode }: Request, { isSent, askedBy, plan }: Known): void {
    const { transactionId, direction, amountCents } = order;
    this.#world.note("rail", () => `is asked for ${direction} ${formatCents(amountCents)}, ${transactionId}`);
    this.#world.tally.count("rail", isSent ? "requests again" : "requests");
    this.#world.watchRelease(transactionId, "its rail is asked");
    const payment = this.#world.payments.find(transactionId);
    if (payment?.begunAt === undefined || payment.sends === 0) {
      this.#world.violated(`the payment of ${transactionId} when the rail is asked`, "begun", payment?.state);
    }
    const now = payment === undefined ? undefined : this.#world.shortcodeOf(payment.railAccountId);
    if (now !== shortcode) this.#world.violated(`the shortcode to which ${transactionId} is sent`, now, shortcode);
    if (isSent && !askedBy.has(server) && plan.answer !== "turned away") {
      this.#world.violated(`what comes before ${server} sends ${transactionId} again`, "a query", "none");
    }
  }

  /** As long as a payment is open, it is asked about where it was sent. */
  #watchQuery({ transactionId }: OpenPayment, shortcode: string, { taken }: Known): void {
    if (this.#world.payments.find(transactionId)?.state === "ENDED") return;
    const elsewhere = taken.find((each) => each.shortcode !== shortcode);
    if (elsewhere === undefined) return;
    this.#world.violated(`the shortcode that is asked about ${transactionId}`, elsewhere.shortcode, shortcode);
  }

  #known(transactionId: TransactionId): Known {
    const known = this.#orders.get(transactionId);
    if (known === undefined) throw new Error(`the rail is asked about ${transactionId}, which nobody has accepted`);
    return known;
  }
}

/** A report that the rail itself sends, and whether it is true. */
type Told = RailReport & { readonly isTrue: boolean };

function oppositeOf(outcome: "succeeded" | "failed"): "succeeded" | "failed" {
  return outcome === "failed" ? "succeeded" : "failed";
}

/** A query for a prompt tells neither the receipt nor the amount. */
function shortOf(report: RailReport): RailReport {
  return report.kind === "succeeded"
    ? { ...report, receipt: undefined, amountCents: undefined, phone: undefined }
    : report;
}

function reportOf(
  { movement, receipt, order, isRefused, cents: amountCents }: Taken,
  outcome: "succeeded" | "failed",
): RailReport {
  if (outcome === "failed") {
    const fault = isRefused ? { fault: REFUSED_INITIATOR } : {};
    return { kind: "failed", movement, code: "2001", failure: "WRONG_PIN", ...fault };
  }
  const phone = order.numberKind === "PHONE" ? maskPhone(order.number as PhoneNumber) : undefined;
  return { kind: "succeeded", movement, receipt, amountCents, phone };
}
