import { Client, credentials, Metadata } from "@grpc/grpc-js";

import {
  type BatchCreateTransactionsResponse,
  TransactionServiceService,
} from "../../src/gen/kesc/v1/transaction_service.js";
import { mintRequest, problemInMint } from "./calls.js";
import type { Job } from "./job.js";
import type { CallInFlight, Tally } from "./tally.js";

const { path, requestSerialize, responseDeserialize } = TransactionServiceService.batchCreateTransactions;
/** The contract's limit. */
const BATCH_MINTS = 1_000;
// The answer to a thousand mints has some 300 KiB.
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Keeps the job's number of batches in flight while the tally is open; each mint counts. Resolves
 * when the tally is closed and the last call is settled. Books failures, never throws.
 *
 * A grpc-js client: a thousand mints share the cost of a call.
 */
export async function driveBatches(job: Job, tally: Tally): Promise<void> {
  const metadata = new Metadata();
  metadata.set("x-api-key", job.apiKey);
  const options = { "grpc.use_local_subchannel_pool": 1, "grpc.max_receive_message_length": ANSWER_BYTES_MAX };
  const client = new Client(job.addresses[0], credentials.createInsecure(), options);
  const callOnce = (calls: CallInFlight[]): Promise<BatchCreateTransactionsResponse | string> => {
    const requests = calls.map((call) => ({
      movement: { $case: "mint" as const, value: mintRequest(job, call) },
      idempotency_key: "",
    }));
    return new Promise((resolve) => {
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { requests }, metadata, (error, answer) => {
        resolve(answer ?? error?.message ?? "no answer");
      });
    });
  };
  const drive = async (): Promise<void> => {
    while (tally.open) {
      const startedAt = performance.now();
      const calls = Array.from({ length: BATCH_MINTS }, () => tally.next(startedAt));
      const answer = await callOnce(calls);
      if (typeof answer === "string") tally.blame(answer, calls.length);
      else settle(job, calls, { answer, tally });
    }
  };
  await Promise.all(Array.from({ length: job.inFlight }, drive));
  client.close();
}

/** Books every mint of a batch. */
function settle(
  job: Job,
  calls: CallInFlight[],
  { answer, tally }: { answer: BatchCreateTransactionsResponse; tally: Tally },
): void {
  const now = performance.now();
  calls.forEach((call, i) => {
    const outcome = answer.results[i]?.outcome;
    const transaction = outcome?.$case === "transaction" ? outcome.value : undefined;
    tally.settle(call, now, problemInMint(job, call, transaction));
  });
}
