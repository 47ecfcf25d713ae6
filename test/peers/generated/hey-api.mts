import { client } from "./client/client.gen.js";
import { createAccount, getAccount, mint, redeem } from "./client/sdk.gen.js";
import { HEADERS, tell, URL_OF_KESC } from "./story.mjs";

client.setConfig({ baseUrl: URL_OF_KESC, auth: HEADERS["X-API-Key"] });

await tell({
  open: async (body) => (await createAccount({ body, throwOnError: true })).data.id,
  mint: async (body) => (await mint({ body, throwOnError: true })).data.amount,
  balance: async (account_id) =>
    (await getAccount({ path: { account_id }, throwOnError: true })).data.available_balance,
  refusedRedeem: async (body) => (await redeem({ body })).error?.code,
});
