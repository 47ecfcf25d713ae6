/** What the database says about one cell, for the gauges. It holds no name of an organization. */
export interface CellState {
  readonly books: number;
  readonly supplyCents: number;
  /**
   * By how much less was seen of each reserve than its organization owes, together. What was seen
   * beyond that in another organization does not count.
   */
  readonly reserveGapCents: number;
  readonly reserveCents: number;
  readonly shortfallCents: number;
  /** What rails took, and nobody has put in yet. */
  readonly chargesCents: number;
  readonly payments: readonly OpenPaymentCount[];
  /** The redemptions that a person must release or refuse. At most 10,000 are counted. */
  readonly heldPayouts: { readonly waiting: number; readonly oldestAt: number | undefined };
  /** Those of them that wait for the answer of a check. */
  readonly payoutChecks: { readonly waiting: number; readonly oldestAt: number | undefined };
  readonly railAccounts: readonly RailAccountCount[];
  /** The warnings that stand against them. A code may come more than once. */
  readonly railWarnings: readonly { readonly code: string; readonly count: number }[];
  readonly deposits: DepositState;
  readonly payouts: PayoutsState;
  readonly webhooks: WebhookState;
  readonly seals: SealState;
  /** How long each lease lasts. A server that lives has renewed its own within 15 seconds. */
  readonly leases: readonly { readonly name: string; readonly leftMillis: number }[];
  /**
   * The acts of the machine since the first operator. Undefined after a start, until all older acts
   * are counted: a count that grows meanwhile would look like new acts.
   */
  readonly actsWithoutPerson: number | undefined;
}

/** Open payments of one direction and age. At most 10,000 of each of two kinds are looked at. */
export interface OpenPaymentCount {
  readonly direction: string;
  readonly age: string;
  readonly count: number;
  readonly oldestAt: number;
}

export interface RailAccountCount {
  readonly rail: string;
  readonly payouts: string;
  readonly count: number;
}

export interface DepositState {
  /** The deposits that wait for a person. At most 10,000 are counted. */
  readonly waiting: number;
  readonly oldestAt: number | undefined;
  /** When the list of received payments was read that nobody has read for longest. */
  readonly listReadAt: number | undefined;
}

export interface PayoutsState {
  /** The parts of approved files that have not run. At most 10,000 are counted. */
  readonly partsWaiting: number;
  /** When the file was approved that runs for longest. */
  readonly oldestAt: number | undefined;
}

export interface WebhookState {
  readonly endpoints: readonly { readonly status: string; readonly count: number }[];
  /** The events after the cursors of all active endpoints. */
  readonly eventsBehind: number;
  /** When the endpoint began to fail that has failed longest. */
  readonly failingSince: number | undefined;
  /** The events beside the cursors that are tried again or given up. At most 10,000 are counted. */
  readonly retries: readonly { readonly state: string; readonly count: number }[];
}

export interface SealState {
  /** The rows without a seal, of the books without an alarm. */
  readonly rowsBehind: number;
  readonly oldestUnsealedAt: number | undefined;
  readonly alarms: number;
}

/** Reads the state of one cell. Each statement is bounded, or reads one row for each book. */
export type ReadCellState = (now: number) => Promise<CellState>;
