import { TransactionStatus, TransactionType } from "../../src/gen/kesc/v1/transaction.js";
import { MintResponse } from "../../src/gen/kesc/v1/transaction_service.js";

/** The method of the empty handler. */
export const EMPTY_PATH = "/kesc.bench.Empty/Call";

const ANSWERED_AT = { seconds: 1_767_323_045n, nanos: 678_000_000 };

/** The answer of the empty handler: the bytes of a mint's answer, every field as long. */
export const EMPTY_ANSWER = Buffer.from(
  MintResponse.encode({
    transaction: {
      id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye",
      account_id: "acc_01jd2r6p5vf8ksw3xhb1z7q4ye",
      type: TransactionType.TRANSACTION_TYPE_MINT,
      status: TransactionStatus.TRANSACTION_STATUS_COMPLETED,
      status_note: undefined,
      amount: "1250.00",
      reference: "bench-000000000000",
      description: undefined,
      metadata: new Map(),
      rail: "direct",
      rail_receipt: undefined,
      receipt: undefined,
      failure: undefined,
      created_at: ANSWERED_AT,
      updated_at: ANSWERED_AT,
      completed_at: ANSWERED_AT,
      corrects_transaction_id: undefined,
      correction: undefined,
      reversed_by_transaction_id: undefined,
      available_balance_after: "1250.00",
      needs_attention: false,
      warnings: [],
      held_for: [],
    },
  }).finish(),
);
