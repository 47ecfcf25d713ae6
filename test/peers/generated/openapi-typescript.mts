import createClient from "openapi-fetch";

import type { paths } from "./client/kesc.js";
import { HEADERS, tell, URL_OF_KESC } from "./story.mjs";

const kesc = createClient<paths>({ baseUrl: URL_OF_KESC, headers: HEADERS });

function dataOf<T>({ data, error }: { data?: T; error?: { detail: string } }): T {
  if (data === undefined) throw new Error(error?.detail);
  return data;
}

await tell({
  open: async (body) => dataOf(await kesc.POST("/accounts", { body })).id,
  mint: async (body) => dataOf(await kesc.POST("/transactions/mint", { body })).amount,
  balance: async (account_id) =>
    dataOf(await kesc.GET("/accounts/{account_id}", { params: { path: { account_id } } })).available_balance,
  refusedRedeem: async (body) => (await kesc.POST("/transactions/redeem", { body })).error?.code,
});
