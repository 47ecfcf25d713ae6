import { Api } from "./client/kesc.js";
import { HEADERS, tell, URL_OF_KESC } from "./story.mjs";

const api = new Api({ baseUrl: URL_OF_KESC, baseApiParams: { headers: HEADERS, format: "json" } });

await tell({
  open: async (request) => (await api.accounts.createAccount(request)).data.id,
  mint: async (request) => (await api.transactions.mint(request)).data.amount,
  balance: async (accountId) => (await api.accounts.getAccount(accountId)).data.available_balance,
  refusedRedeem: async (request) => {
    try {
      await api.transactions.redeem(request);
    } catch (refusal) {
      return (refusal as Awaited<ReturnType<typeof api.transactions.redeem>>).error.code;
    }
  },
});
