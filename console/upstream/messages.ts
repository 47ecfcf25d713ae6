/**
 * The fields of the contract that pages read, as REST names them. Every field of a response is
 * there, and null if it is not set. proto/ says what each means.
 */

interface Paged {
  readonly next_page_token: string | null;
}

export interface Operator {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly string[];
  readonly created_at: string;
  readonly revoked_at: string | null;
  readonly passkeys: readonly { readonly id: string; readonly created_at: string }[];
}

export interface Session {
  readonly id: string;
  readonly operator_id: string;
  readonly operator_name: string;
  readonly passkey_id: string | null;
  readonly created_at: string;
  readonly used_at: string;
  readonly expires_at: string;
}

export interface WhoAmI {
  readonly operator: Operator;
  readonly four_eyes: readonly string[];
}

export interface Organization {
  readonly id: string;
  readonly name: string;
  readonly sandbox: boolean;
  readonly suspended: boolean;
  readonly created_at: string;
}

export interface Organizations extends Paged {
  readonly organizations: readonly Organization[];
}

export interface Count {
  readonly count: number;
  readonly more: boolean;
}

export interface Overview {
  readonly flagged_transactions: Count;
  readonly old_open_payments: Count;
  readonly oldest_open_payment_id: string | null;
  readonly oldest_open_payment_at: string | null;
  readonly waiting_deposits: Count;
  readonly waiting_proposals: Count;
  readonly proposals_for_me: Count;
  readonly sums: {
    readonly reserve: string;
    readonly shortfall: string;
    readonly available: string;
    readonly held: string;
    readonly unallocated: string;
    readonly charges: string;
  };
  readonly as_of_sequence: number | null;
  readonly as_of_time: string | null;
  readonly read_at: string;
}

export interface Freeze {
  readonly id: string;
  readonly reason: string;
  readonly note: string | null;
  readonly created_by: string;
  readonly created_at: string;
}

export interface Account {
  readonly id: string;
  readonly user_id: string | null;
  readonly phone_number: string | null;
  readonly email: string | null;
  readonly status: string;
  readonly status_note: string | null;
  readonly freezes: readonly Freeze[];
  readonly available_balance: string;
  readonly held_balance: string;
  readonly tier: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deposit_reference: string | null;
  readonly as_of_sequence: number | null;
}

export interface Limits {
  readonly limits: readonly {
    readonly type: string;
    readonly period: string;
    readonly max_amount: string;
    readonly used: string | null;
    readonly remaining: string;
    readonly resets_at: string | null;
  }[];
}

export interface Receipt {
  readonly source: string;
  readonly number: string;
}

export interface Transaction {
  readonly id: string;
  readonly account_id: string;
  readonly type: string;
  readonly status: string;
  readonly status_note: string | null;
  readonly amount: string;
  readonly reference: string;
  readonly description: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly rail: string;
  readonly rail_receipt: string | null;
  readonly failure: { readonly reason: string; readonly message: string } | null;
  readonly needs_attention: boolean;
  readonly available_balance_after: string | null;
  readonly corrects_transaction_id: string | null;
  readonly correction: string | null;
  readonly reversed_by_transaction_id: string | null;
  readonly created_at: string;
  readonly updated_at: string;
  readonly completed_at: string | null;
  readonly receipt: Receipt | null;
  readonly deposit_id: string | null;
  readonly destination_id: string | null;
}

export interface ReserveHolding {
  readonly place: string;
  readonly amount: string;
  readonly as_of_day: string;
  readonly evidence: string;
  readonly sequence: number;
  readonly age_seconds: number;
  readonly kind: string;
}

export interface Accounts extends Paged {
  readonly accounts: readonly Account[];
}

export interface Transactions extends Paged {
  readonly transactions: readonly Transaction[];
}

export interface Payment {
  readonly state: string;
  readonly masked_phone_number: string;
  readonly rail_reference: string | null;
  readonly started_at: string | null;
  readonly send_count: number;
  readonly check_count: number;
  readonly next_check_at: string | null;
  readonly last_code: string | null;
  readonly open_flags: readonly string[];
  readonly messages: readonly { readonly purpose: string; readonly body: string; readonly received_at: string }[];
}

export interface Deposit {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly amount: string;
  readonly rail: string;
  readonly rail_receipt: string | null;
  readonly receipt: Receipt | null;
  readonly masked_payer_phone_number: string | null;
  readonly typed_reference: string | null;
  readonly account_id: string | null;
  readonly transaction_id: string | null;
  readonly paid_at: string | null;
  readonly created_at: string;
}

export interface NeedsAttention extends Paged, Transactions {
  readonly deposits: readonly Deposit[];
  readonly flags: readonly { readonly transaction_id: string; readonly open_flags: readonly string[] }[];
}

export interface JournalLine {
  readonly sequence: number;
  readonly recorded_at: string;
  readonly type: string;
  readonly account_id: string | null;
  readonly transaction_id: string | null;
  readonly debit_account: string | null;
  readonly credit_account: string | null;
  readonly amount: string | null;
  readonly available_balance: string | null;
  readonly held_balance: string | null;
  readonly reference: string | null;
  readonly rail_receipt: string | null;
  readonly actor: string;
  readonly note: string | null;
}

export interface JournalEntry {
  readonly line: JournalLine;
  readonly operator_names: readonly string[];
  readonly api_key_id: string | null;
}

export interface Journal extends Paged {
  readonly entries: readonly JournalEntry[];
}

export interface StatementLine {
  readonly sequence: number | null;
  readonly recorded_at: string;
  readonly type: string;
  readonly transaction_id: string | null;
  readonly rail_receipt: string | null;
  readonly amount_in: string | null;
  readonly amount_out: string | null;
  readonly balance: string;
}

export interface Statement extends Paged {
  readonly start: string;
  readonly end: string;
  readonly opening_balance: string;
  readonly closing_balance: string;
  readonly lines: readonly StatementLine[];
}

export interface Proposal {
  readonly id: string;
  readonly type: string;
  readonly content: string;
  readonly subject_id: string | null;
  readonly changes: readonly { readonly what: string; readonly before: string; readonly after: string }[];
  readonly proposed_by: string;
  readonly proposer_name: string;
  readonly proposed_at: string;
  readonly expires_at: string | null;
  readonly state: string;
  readonly decided_by: string | null;
  readonly decider_name: string | null;
  readonly decided_at: string | null;
  readonly organization_id: string | null;
}

export interface Proposals extends Paged {
  readonly proposals: readonly Proposal[];
}

export interface LookedUp {
  readonly read_as: string;
  readonly tried: readonly string[];
  readonly matches: readonly {
    readonly account: Account | null;
    readonly transaction: Transaction | null;
    readonly deposit: Deposit | null;
    readonly proposal: Proposal | null;
    readonly entry: JournalEntry | null;
  }[];
  readonly more: boolean;
}

export interface Backing {
  readonly open_payments: readonly {
    readonly type: string;
    readonly age: string;
    readonly count: number;
    readonly amount: string;
    readonly oldest_created_at: string;
  }[];
  readonly has_more_open_payments: boolean;
  readonly rail_balances: readonly {
    readonly rail: string;
    readonly name: string;
    readonly currency: string;
    readonly available: string;
    readonly reported_at: string;
    readonly age_seconds: number;
  }[];
  readonly reserve_holdings: readonly ReserveHolding[];
  readonly reserve_rules: readonly {
    readonly rule: { readonly kind: string; readonly share_min: number | null; readonly share_max: number | null };
    readonly state: string;
    readonly amount: string;
    readonly as_of_day: string | null;
  }[];
  /** Null if nobody has seen the reserve. */
  readonly seen: string | null;
  /** Below zero if less was seen than is owed. */
  readonly difference: string | null;
}

export interface Supply {
  readonly in_circulation: string;
  readonly available: string;
  readonly held: string;
  readonly reserve: string;
  readonly shortfall: string;
  readonly unallocated: string;
  readonly charges: string;
  readonly owed: string;
  /** Null as of now. */
  readonly minted: string | null;
  readonly redeemed: string | null;
  readonly as_of_sequence: number | null;
  readonly as_of_time: string | null;
  readonly backing: Backing | null;
}

export interface Proof {
  readonly leaf_index: number;
  readonly hashes: readonly string[];
  readonly checkpoint: {
    readonly size: number;
    readonly root_hash: string;
    readonly sealed_at: string;
    readonly alarm_raised_at: string | null;
  };
}

export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}
