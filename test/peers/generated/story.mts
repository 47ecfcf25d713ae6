/** What each generated client of TypeScript does, in its own words. */
export interface Calls {
  /** Opens an account. Returns its id. */
  readonly open: (request: { user_id: string; phone_number: string; email: string }) => Promise<string>;
  /** Returns the amount that was minted. */
  readonly mint: (request: Order) => Promise<number>;
  readonly balance: (accountId: string) => Promise<number>;
  /** Returns the code of the refusal, as the client has it. */
  readonly refusedRedeem: (request: Order) => Promise<string | undefined>;
}

export interface Order {
  account_id: string;
  amount: string | number;
  reference: string;
  rail: string;
}

export const URL_OF_KESC = process.env["KESC_URL"] ?? "";
export const HEADERS = { "X-API-Key": process.env["KESC_API_KEY"] ?? "" };

export async function tell({ open, mint, balance, refusedRedeem }: Calls): Promise<void> {
  const user = process.env["KESC_USER"] ?? "";
  const account_id = await open({ user_id: user, phone_number: "0712345678", email: "wanjiku@example.co.ke" });
  const order = (amount: string | number, name: string): Order => ({
    account_id,
    amount,
    reference: `${user}-${name}`,
    rail: "direct",
  });
  const minted = await mint(order("12345678901.23", "cents"));
  const whole = await mint(order(3_000_000_000, "whole"));
  const kept = await balance(account_id);
  const refused = await refusedRedeem(order("99999999999.99", "too-much"));
  const amounts = { minted: minted.toFixed(2), whole: whole.toFixed(2), balance: kept.toFixed(2) };
  console.log(JSON.stringify({ ...amounts, refused }));
}
