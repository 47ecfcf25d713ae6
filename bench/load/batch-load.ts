import { Client, credentials, Metadata } from "@grpc/grpc-js";

import {
  BatchCreateTransactionsRequest,
  TransactionServiceService,
} from "../../src/gen/kesc/v1/transaction_service.js";
import { FieldScan } from "./field-scan.js";
import { type AnswerCheck, mintCheck } from "./grpc-calls.js";
import type { Job } from "./job.js";
import { BLANK_REFERENCE, findSerials, writeSerial } from "./reference.js";
import type { CallInFlight, Tally } from "./tally.js";

/** As many as a call takes. */
const BATCH_MINTS = 1_000;
const CALLS_ON_A_CONNECTION = 4;
// The answer to a thousand mints is some 300 KiB.
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Keeps the job's number of calls in flight, each a batch of 1,000 mints, for as long as the tally
 * is open, in which each mint counts. Resolves when it is closed and the last call has been
 * settled; what goes wrong is booked, never thrown.
 *
 * An ordinary client: what a call costs it is shared by a thousand mints.
 */
export async function driveBatches(job: Job, tally: Tally): Promise<void> {
  const prepared = preparedBatch(job);
  const serialsAt = findSerials(prepared);
  const check = mintCheck(job);
  const metadata = new Metadata();
  metadata.set("x-api-key", job.apiKey);
  const clients = Array.from({ length: Math.ceil(job.inFlight / CALLS_ON_A_CONNECTION) }, () =>
    connectTo(job.addresses[0]),
  );

  const drive = async (client: Client): Promise<void> => {
    while (tally.open) {
      const now = performance.now();
      const calls = serialsAt.map(() => tally.next(now));
      const request = Buffer.from(prepared);
      calls.forEach(({ serial }, index) => {
        writeSerial(request, serialsAt[index] ?? 0, serial);
      });
      settle(await callOnce(client, request, metadata), { calls, check, tally });
    }
  };
  await Promise.all(
    Array.from({ length: job.inFlight }, (_, index) =>
      drive(clients[index % clients.length] ?? connectTo(job.addresses[0])),
    ),
  );
  for (const client of clients) client.close();
}

/**
 * A batch with blank references, its mints going to the job's accounts in turn, as the tally counts
 * them.
 */
function preparedBatch({ accountIds, amount }: Job): Buffer {
  if (BATCH_MINTS % accountIds.length !== 0)
    throw new Error("a batch must go round the accounts a whole number of times");
  const requests = Array.from({ length: BATCH_MINTS }, (_, index) => ({
    movement: {
      $case: "mint" as const,
      value: {
        account_id: accountIds[index % accountIds.length] ?? "",
        amount,
        reference: BLANK_REFERENCE,
        description: "",
        metadata: new Map<string, string>(),
      },
    },
    idempotency_key: "",
  }));
  return Buffer.from(BatchCreateTransactionsRequest.encode({ requests }).finish());
}

function connectTo(address: string): Client {
  return new Client(address, credentials.createInsecure(), {
    "grpc.use_local_subchannel_pool": 1,
    "grpc.max_receive_message_length": ANSWER_BYTES_MAX,
  });
}

/** The answer, or what went wrong. */
function callOnce(client: Client, request: Buffer, metadata: Metadata): Promise<Buffer | string> {
  const { path } = TransactionServiceService.batchCreateTransactions;
  const bytes = (value: Buffer): Buffer => value;
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, bytes, bytes, request, metadata, (error, answer) => {
      resolve(answer ?? error?.message ?? "no answer");
    });
  });
}

/** Books every mint of a batch: its result is laid out as a mint's own answer is. */
function settle(
  answer: Buffer | string,
  { calls, check, tally }: { calls: CallInFlight[]; check: AnswerCheck; tally: Tally },
): void {
  if (typeof answer === "string") {
    tally.blame(answer, calls.length);
    return;
  }
  const now = performance.now();
  const results = new FieldScan();
  results.reset(answer, 0, answer.length);
  for (const call of calls) {
    const problem = results.next()
      ? check(answer, results.start, results.end, call)
      : "a batch's answer that is too short";
    tally.settle(call, now, problem);
  }
}
