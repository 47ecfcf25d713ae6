import type { RailReceipt } from "../../../../src/domain/payment.js";
import { type Cents, toCents } from "../../../../src/domain/values/cents.js";
import type { OrganizationId, TransactionId } from "../../../../src/domain/values/ids.js";
import type { RailWorld } from "./rail-world.js";
import type { Moved } from "./simulated-rail.js";

const HOUR_MILLIS = 3_600_000;
/** The source of the bank's receipts: that of the place "KCB 1234". */
const SOURCE = "kcb-1234";

/** A payment that the bank took from a file. */
interface Taken {
  readonly organizationId: OrganizationId;
  readonly receipt: RailReceipt;
  /** What the bank pays. It can pay another amount than the file has. */
  readonly cents: Cents;
  state: "open" | "paid" | "refused";
}

/** A line of the bank's statement. */
export interface StatementLine {
  readonly direction: "in" | "out";
  readonly transactionId: TransactionId;
  readonly receipt: RailReceipt;
  readonly cents: Cents;
}

/**
 * The truth about payments to bank accounts. It takes files that persons bring, once by their
 * MsgId, and reads them by itself. It says what became of them in a statement, and what it refuses
 * in a status report.
 */
export class SimulatedBank {
  readonly #world: RailWorld;
  /** The bytes of each file, by their MsgId. */
  readonly #files = new Map<string, string>();
  readonly #taken = new Map<TransactionId, Taken>();
  readonly #lines = new Map<OrganizationId, StatementLine[]>();

  constructor(world: RailWorld) {
    this.#world = world;
  }

  /** Somebody brings a file. The bank refuses one that it has had. */
  bring(organizationId: OrganizationId, bytes: string): void {
    const [id = ""] = textsOf(bytes, "MsgId");
    const before = this.#files.get(id);
    this.#world.tally.count("bank", before === undefined ? "files" : "files again");
    if (before !== undefined) {
      if (before !== bytes) this.#world.violated(`the bytes of the file ${id}`, before, bytes);
      return;
    }
    this.#files.set(id, bytes);
    const payments = paymentsOf(bytes);
    const sum = payments.reduce((total, { cents }) => total + cents, 0);
    const totals = [textsOf(bytes, "NbOfTxs")[0], centsIn(textsOf(bytes, "CtrlSum")[0])];
    const expected = [String(payments.length), sum];
    if (String(totals) !== String(expected)) this.#world.violated(`the totals of the file ${id}`, expected, totals);
    for (const payment of payments) this.#take(organizationId, payment);
  }

  /** What the bank's statement of an organization says by now. */
  statement(organizationId: OrganizationId): readonly StatementLine[] {
    return this.#lines.get(organizationId) ?? [];
  }

  /** The payments that the bank has refused. */
  refused(organizationId: OrganizationId): readonly TransactionId[] {
    return this.#own(organizationId).flatMap(([id, { state }]) => (state === "refused" ? [id] : []));
  }

  movedFor(transactionId: TransactionId): readonly Pick<Taken, "receipt" | "cents">[] {
    const taken = this.#taken.get(transactionId);
    return taken?.state === "paid" ? [taken] : [];
  }

  /** What came back less what went out. */
  moved(organizationId: OrganizationId): Moved {
    const lines = this.statement(organizationId);
    const cents = lines.reduce((sum, line) => (line.direction === "in" ? sum + line.cents : sum - line.cents), 0);
    return { cents, receipts: lines.map(({ receipt }) => receipt) };
  }

  #take(organizationId: OrganizationId, { transactionId, cents }: PaymentInFile): void {
    const { random, disk, tally } = this.#world;
    const { amountCents = 0, status = "PENDING" } = disk.transactions.get(transactionId) ?? {};
    if (this.#taken.has(transactionId)) this.#world.violated(`how often the bank takes ${transactionId}`, 1, 2);
    if (amountCents !== cents) this.#world.violated(`what the bank takes of ${transactionId}`, amountCents, cents);
    // What a person has ended since stays ended in the book. But only what was given can be paid.
    const isGiven = status !== "PENDING" && status !== "CANCELED";
    if (!isGiven) this.#world.violated(`what the bank takes of ${transactionId}`, "nothing", status);
    this.#world.watchRelease(transactionId, "the bank takes it");
    tally.count("bank", "payments taken");
    const paid = toCents(random.chance(0.05) ? 1 + random.below(50_000) : cents);
    const receipt = `${SOURCE}:${this.#world.newId("B")}` as RailReceipt;
    const taken: Taken = { organizationId, receipt, cents: paid, state: "open" };
    this.#taken.set(transactionId, taken);
    const outcome = random.pick(["paid", "paid", "paid", "returned", "refused", "open"] as const);
    if (outcome === "open") return;
    this.#world.after(random.pick([0, HOUR_MILLIS / 12, 20 * HOUR_MILLIS]), `the bank ends ${transactionId}`, () => {
      tally.count("bank", `payments ${outcome}`);
      taken.state = outcome === "refused" ? "refused" : "paid";
      if (outcome === "refused") return;
      this.#tell(organizationId, { direction: "out", transactionId, receipt, cents: paid });
      if (outcome !== "returned") return;
      this.#world.after(random.pick([0, 2 * HOUR_MILLIS]), `the bank returns ${transactionId}`, () => {
        const back = `${SOURCE}:${this.#world.newId("B")}` as RailReceipt;
        this.#tell(organizationId, { direction: "in", transactionId, receipt: back, cents: paid });
      });
    });
  }

  #tell(organizationId: OrganizationId, line: StatementLine): void {
    this.#world.note("bank", () => `books ${line.direction} ${String(line.cents)}, ${line.transactionId}`);
    this.#lines.set(organizationId, [...this.statement(organizationId), line]);
  }

  #own(wanted: OrganizationId): readonly (readonly [TransactionId, Taken])[] {
    return [...this.#taken].filter(([, { organizationId }]) => organizationId === wanted);
  }
}

interface PaymentInFile {
  readonly transactionId: TransactionId;
  readonly cents: number;
}

/** Reads pain.001 without the code of the service. */
function paymentsOf(bytes: string): readonly PaymentInFile[] {
  return textsOf(bytes, "CdtTrfTxInf").map((payment) => {
    const [reference = ""] = textsOf(payment, "EndToEndId");
    const transactionId = `txn_${reference.slice(16)}${reference.slice(0, 16)}`.toLowerCase() as TransactionId;
    return { transactionId, cents: centsIn(textsOf(payment, "InstdAmt")[0]) };
  });
}

function textsOf(xml: string, name: string): readonly string[] {
  return [...xml.matchAll(new RegExp(`<${name}(?: [^>]*)?>(.*?)</${name}>`, "gs"))].map(([, text = ""]) => text);
}

function centsIn(amount = ""): number {
  return Math.round(Number(amount) * 100);
}
