// node proto-loader.mjs: without generated code. Reads the contract from dist/proto/include of this package.
import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { credentials, loadPackageDefinition, Metadata } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const contract = fileURLToPath(new URL("../../dist/proto/include", import.meta.url));
const options = { includeDirs: [contract], keepCase: true, longs: String, defaults: true };
const files = ["account_service", "transaction_service", "event_service"].map((name) => `kesc/v1/${name}.proto`);
const definition = loadSync([...files, "google/rpc/status.proto", "google/rpc/error_details.proto"], options);
const { v1 } = loadPackageDefinition(definition).kesc;

const metadata = new Metadata();
// A line break would make grpc-js throw an error that shows the key.
metadata.set("x-api-key", (process.env["KESC_API_KEY"] ?? "").trim());
const address = process.env["KESC_ADDRESS"] ?? "127.0.0.1:50051";
const [accounts, transactions, events] = [v1.AccountService, v1.TransactionService, v1.EventService].map(
  (Service) => new Service(address, credentials.createInsecure()),
);
const user = randomUUID();

/** Calls once. UNAVAILABLE may be repeated: the reference makes it safe. */
const call = (client, method, request) =>
  promisify(client[method]).call(client, request, metadata, { deadline: Date.now() + 10_000 });

const { account } = await call(accounts, "CreateAccount", {
  user_id: user,
  phone_number: "0712345678",
  email: "wanjiku@example.co.ke",
});
const account_id = account.id;
console.log("account", account_id);

const deposit = { account_id, amount: "1000.00", reference: `deposit-${user}`, rail: "direct" };
const { transaction } = await call(transactions, "Mint", deposit);
console.log("minted", transaction.amount);

const payout = { account_id, amount: "250.00", reference: `payout-${user}`, rail: "direct" };
console.log("redeemed", (await call(transactions, "Redeem", payout)).transaction.amount);

const repeated = await call(transactions, "Mint", deposit);
console.log("repeated:", repeated.transaction.id === transaction.id ? "the same transaction" : "ANOTHER ONE");

const tooMuch = { ...payout, amount: "1000.00", reference: `too-much-${user}` };
await call(transactions, "Redeem", tooMuch).catch((error) => {
  const { reason, metadata: facts } = errorInfoOf(error);
  console.log("refused:", reason, facts.available);
});

const stream = events.WatchEvents({ after_sequence: "0", account_id }, metadata);
const types = [];
for await (const message of stream) {
  types.push(...message.events.map(({ type }) => type));
  if (types.length >= 3) break;
}
stream.cancel();
console.log("events:", types.join(" "));
for (const client of [accounts, transactions, events]) client.close();

/** The google.rpc.ErrorInfo of a refusal: docs/errors.md lists the reasons and their facts. */
function errorInfoOf(error) {
  const [bytes] = error.metadata.get("grpc-status-details-bin");
  const status = definition["google.rpc.Status"].deserialize(bytes);
  const info = status.details.find((detail) => detail.type_url.endsWith("/google.rpc.ErrorInfo"));
  return definition["google.rpc.ErrorInfo"].deserialize(info.value);
}
