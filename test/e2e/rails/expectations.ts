import { type BookSums, NO_SUMS } from "../../../src/domain/book.js";

/** What each order has in the end: 300.00, with a mint of 1000.00 before each redemption. */
export interface Expectation {
  readonly status: "completed" | "failed" | "processing";
  readonly failure?: string;
  /** Whether the transaction has M-Pesa's receipt, where money moved. */
  readonly receipt?: "none";
  /** Whether the money moved after the failure, and a correction booked it. */
  readonly late?: true;
  /** The flags that are up. */
  readonly flags?: readonly string[];
  /** How often the service sent the order. By default once. */
  readonly sends?: number;
  /** How often M-Pesa accepted the order. By default once. */
  readonly orders?: 0;
}

export type Direction = "mint" | "redeem";

const COMPLETED: Expectation = { status: "completed" };
const NO_RECEIPT: Expectation = { status: "completed", receipt: "none" };
/** What came does not tell: a person looks. */
const UNCLEAR: Expectation = { status: "processing", flags: ["outcome_unknown"] };
const CONTRADICTED: Expectation = { status: "processing", flags: ["report_differs"] };

function failed(failure: string, more: Partial<Expectation> = {}): Expectation {
  return { status: "failed", failure, ...more };
}

/** By the ending of the phone number, as the simulator's scenarios. */
export const EXPECTATIONS: Readonly<Record<Direction, Readonly<Record<string, Expectation>>>> = {
  mint: {
    "00": COMPLETED,
    "01": failed("CANCELED_BY_PAYER"),
    "02": failed("PAYER_UNREACHABLE"),
    "03": failed("PAYER_SHORT_OF_FUNDS"),
    "04": failed("WRONG_PIN"),
    "05": NO_RECEIPT,
    "06": COMPLETED,
    "07": COMPLETED,
    "08": COMPLETED,
    "09": { status: "completed", sends: 2 },
    "10": COMPLETED,
    "11": COMPLETED,
    "12": failed("PAYER_UNREACHABLE", { late: true }),
    "15": NO_RECEIPT,
    "16": failed("CANCELED_BY_PAYER"),
    "17": COMPLETED,
    "18": CONTRADICTED,
    "19": COMPLETED,
    "20": failed("RAIL_REFUSED", { orders: 0 }),
    "21": COMPLETED,
    "22": { status: "completed", sends: 2 },
    "23": CONTRADICTED,
    "24": { status: "completed", sends: 2 },
    "25": failed("RAIL_REFUSED"),
    "26": UNCLEAR,
    "27": UNCLEAR,
    "28": COMPLETED,
    "29": UNCLEAR,
  },
  redeem: {
    "00": COMPLETED,
    "01": failed("RECIPIENT_NOT_REGISTERED"),
    "02": failed("RECIPIENT_LIMIT"),
    "03": failed("RAIL_ACCOUNT_SHORT"),
    // Nobody sets another password, so nobody may ask.
    "04": UNCLEAR,
    "05": COMPLETED,
    "06": COMPLETED,
    "07": COMPLETED,
    "08": COMPLETED,
    "09": { status: "completed", sends: 2 },
    "10": COMPLETED,
    "11": COMPLETED,
    "12": failed("RAIL_REFUSED", { late: true }),
    "13": COMPLETED,
    "14": failed("RAIL_REFUSED"),
    "15": COMPLETED,
    "16": failed("RECIPIENT_NOT_REGISTERED"),
    "17": COMPLETED,
    "18": CONTRADICTED,
    "19": COMPLETED,
    "20": failed("RAIL_REFUSED", { orders: 0 }),
    "21": COMPLETED,
    "22": { status: "completed", sends: 2 },
    "24": { status: "completed", sends: 2 },
    "26": UNCLEAR,
    "28": COMPLETED,
    // The status query says Declined.
    "29": failed("RAIL_REFUSED"),
  },
};

export const FUNDS_CENTS = 100_000;
export const ORDER_CENTS = 30_000;

/** The accounts of the book in the end. Nothing stays unallocated or short. */
export function booksOf(direction: Direction, { status, late }: Expectation): BookSums {
  const movedCents = status === "completed" || late === true ? ORDER_CENTS : 0;
  const cents = direction === "mint" ? movedCents : FUNDS_CENTS - movedCents;
  const held = direction === "redeem" && status === "processing" ? ORDER_CENTS : 0;
  return { ...NO_SUMS, reserve: cents, available: cents - held, held };
}

/** The cells of the table in docs/mpesa.md, which leaves out the endings that simply complete. */
export function tableRows(): readonly (readonly string[])[] {
  const endings = new Set([...Object.keys(EXPECTATIONS.mint), ...Object.keys(EXPECTATIONS.redeem)]);
  const rows = [...endings].sort().map((ending) => {
    const words = (["mint", "redeem"] as const).map((direction) => wordsOf(EXPECTATIONS[direction][ending]));
    return [ending, ...words];
  });
  return rows.filter(([, ...words]) => words.some((word) => word !== wordsOf()));
}

function wordsOf(expectation: Expectation = COMPLETED): string {
  const { status, failure, receipt, late, flags = [], sends } = expectation;
  return [
    status + (failure === undefined ? "" : `, ${failure}`),
    ...(receipt === "none" ? ["without receipt"] : []),
    ...(sends === undefined ? [] : [`sent ${String(sends)} times`]),
    ...(late === true ? ["then a correction books what moved"] : []),
    ...flags.map((flag) => `flag ${flag.toUpperCase()}`),
  ].join("; ");
}
