import { createApiClient } from "./client/kesc.js";
import { HEADERS, tell, URL_OF_KESC } from "./story.mjs";

const api = createApiClient(
  {
    fetch: ({ url, method, parameters }) =>
      fetch(url, {
        method,
        headers: { ...HEADERS, "Content-Type": "application/json" },
        ...(parameters?.body === undefined ? {} : { body: JSON.stringify(parameters.body) }),
      }),
  },
  URL_OF_KESC,
);

await tell({
  open: async (body) => (await api.post("/accounts", { body, header: {} })).id,
  mint: async (body) => (await api.post("/transactions/mint", { body, header: {} })).amount,
  balance: async (account_id) =>
    (await api.get("/accounts/{account_id}", { path: { account_id }, query: {}, header: {} })).available_balance,
  refusedRedeem: async (body) => {
    const redeemed = await api.post("/transactions/redeem", { body, header: {}, withResponse: true });
    return redeemed.status === 422 ? redeemed.data.code : undefined;
  },
});
