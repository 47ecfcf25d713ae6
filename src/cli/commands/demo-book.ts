import { setTimeout as sleep } from "node:timers/promises";

import type { KescClient } from "../../../client/kesc-client.js";

/** The users of the demo. Each has a phone number that ends with 00, but for the last two. */
// Not the users of the documents, whose requests must work beside them.
const USERS = ["amani", "baraka", "chiku", "daudi", "eshe", "farida", "gathoni", "hamisi", "imani", "juma"];
const ENDINGS_OF_PHONES = ["00", "00", "00", "00", "00", "00", "00", "00", "01", "15"];

/** How a mint on the sandbox ends (docs/sandbox.md), and how many of them there are. */
const SANDBOX_MINTS: Readonly<Record<string, number>> = {
  "00": 52,
  "01": 3,
  "02": 3,
  "03": 4,
  "04": 3,
  "05": 4,
  "06": 4,
  "07": 2,
  "08": 4,
  "10": 2,
  "11": 3,
  "13": 3,
  "15": 2,
  "16": 1,
  "17": 3,
};
const DIRECT_MINTS = 50;
const DIRECT_REDEMPTIONS = 30;
const SANDBOX_REDEMPTIONS = 27;
const AT_ONCE = 16;
// An answer that is lost is flagged once somebody has advanced the order far enough.
const ADVANCES = 4;
const PAUSE_MILLIS = 400;

/** A freeze of the demo, which one of its people wants to lift. */
export interface DemoFreeze {
  readonly account_id: string;
  readonly freeze_id: string;
}

/**
 * Fills the book of the demo: users, 200 payments in every state, a freeze, a reversal, and two
 * deposits, of which one waits. Moves no real shillings. Returns an account and the freeze.
 */
export async function fillDemoBook(
  client: KescClient,
): Promise<{ readonly accountId: string; readonly freeze: DemoFreeze }> {
  const accounts = await Promise.all(USERS.map((user_id, index) => accountOf(client, user_id, index)));
  const idAt = (index: number): string => accounts[index % accounts.length]?.id ?? "";
  const direct = await inTurns(DIRECT_MINTS, async (index) => {
    const amount = `${String(500 + ((index * 737) % 9_500))}.00`;
    const request = { account_id: idAt(index), amount, reference: `salary-${String(index)}`, rail: "direct" };
    return (await client.transactions.mint(request)).transaction.id;
  });
  await inTurns(DIRECT_REDEMPTIONS, (index) =>
    client.transactions.redeem({
      account_id: idAt(index),
      amount: `${String(20 + ((index * 313) % 400))}.50`,
      reference: `shop-${String(index)}`,
      rail: "direct",
    }),
  );
  const endings = Object.entries(SANDBOX_MINTS).flatMap(([ending, count]) =>
    Array.from({ length: count }, () => ending),
  );
  const mints = await inTurns(endings.length, async (index) => {
    const ending = endings[index] ?? "00";
    const { transaction } = await client.transactions.mint({
      account_id: idAt(index),
      amount: `${String(100 + ((index * 211) % 4_900))}.00`,
      reference: `top-up-${String(index)}`,
      rail: "sandbox",
      payer_phone_number: `+2547120010${ending}`,
    });
    return { id: transaction.id, ending };
  });
  const redemptions = await inTurns(SANDBOX_REDEMPTIONS, async (index) => {
    const amount = `${String(50 + ((index * 97) % 450))}.00`;
    const request = { account_id: idAt(index), amount, reference: `withdraw-${String(index)}`, rail: "sandbox" };
    const { transaction } = await client.transactions.redeem(request);
    return { id: transaction.id, ending: ENDINGS_OF_PHONES[index % USERS.length] ?? "" };
  });
  const freeze = await leaveTraces(client, { reversed: direct[7] ?? "", frozen: idAt(8) });
  const [lost = [], waiting = []] = ["15", "17"].map((wanted) =>
    [...mints, ...redemptions].filter(({ ending }) => ending === wanted).map(({ id }) => id),
  );
  await client.transactions.cancelTransaction({ transaction_id: waiting[0] ?? "", note: "the user asked for it" });
  for (let time = 0; time < ADVANCES; time += 1) {
    await sleep(PAUSE_MILLIS);
    await Promise.all(lost.map((transaction_id) => client.sandbox.advanceTransaction({ transaction_id })));
  }
  return { accountId: idAt(0), freeze };
}

async function accountOf(client: KescClient, user_id: string, index: number): Promise<{ readonly id: string }> {
  const phone_number = `+25471200${String(10 + index)}${ENDINGS_OF_PHONES[index] ?? "00"}`;
  const { account } = await client.accounts.createAccount({ user_id, phone_number, email: `${user_id}@example.com` });
  if (index < 2) {
    const typed_reference = index === 0 ? (account.deposit_reference ?? "") : "baraka shop";
    const receipt = `RKT${String(1_000_000 + index)}`;
    await client.sandbox.createDeposit({
      amount: "1500.00",
      typed_reference,
      payer_phone_number: phone_number,
      receipt,
    });
  }
  return account;
}

/** What people do beside payments. */
async function leaveTraces(
  client: KescClient,
  { reversed, frozen }: { readonly reversed: string; readonly frozen: string },
): Promise<DemoFreeze> {
  await client.transactions.reverseTransaction({ transaction_id: reversed, description: "paid twice" });
  const note = "the user reported a stolen phone";
  const request = { account_id: frozen, reason: "customer_request", note } as const;
  const { freeze } = await client.accounts.freezeAccount(request);
  return { account_id: frozen, freeze_id: freeze.id };
}

/** Makes `count` calls, a few at a time, and returns their results in order. */
async function inTurns<Result>(count: number, call: (index: number) => Promise<Result>): Promise<Result[]> {
  const results: Result[] = [];
  for (let first = 0; first < count; first += AT_ONCE) {
    const indexes = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, index) => first + index);
    results.push(...(await Promise.all(indexes.map(call))));
  }
  return results;
}
