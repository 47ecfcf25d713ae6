// node client.mjs: with the client @kesc/client. KESC_API_KEY is a key, KESC_ADDRESS the gRPC address.
import { randomUUID } from "node:crypto";

import { KescClient, KescError } from "@kesc/client";

const kesc = new KescClient({
  address: process.env["KESC_ADDRESS"] ?? "127.0.0.1:50051",
  apiKey: process.env["KESC_API_KEY"] ?? "",
});
const user = randomUUID();

const { account } = await kesc.accounts.createAccount({
  user_id: user,
  phone_number: "0712345678",
  email: "wanjiku@example.co.ke",
});
const account_id = account.id;
console.log("account", account_id);

// The reference makes a repeat safe. The client repeats by itself when the service cannot be reached.
const deposit = { account_id, amount: "1000.00", reference: `deposit-${user}`, rail: "direct" };
const { transaction } = await kesc.transactions.mint(deposit);
console.log("minted", transaction.amount);

const payout = { account_id, amount: "250.00", reference: `payout-${user}`, rail: "direct" };
const redeemed = await kesc.transactions.redeem(payout);
console.log("redeemed", redeemed.transaction.amount);

const repeated = await kesc.transactions.mint(deposit);
console.log("repeated:", repeated.replayed ? "the same transaction" : "ANOTHER ONE");

try {
  await kesc.transactions.redeem({ account_id, amount: "1000.00", reference: `too-much-${user}`, rail: "direct" });
} catch (error) {
  if (!(error instanceof KescError) || error.reason !== "INSUFFICIENT_FUNDS") throw error;
  console.log("refused:", error.reason, error.facts["available"]);
}

// A program stores event.sequence with what it did, and begins after it the next time.
const types = [];
for await (const event of kesc.events.watchEvents({ account_id })) {
  types.push(event.type);
  if (types.length === 3) break;
}
console.log("events:", types.join(" "));
kesc.close();
