import { HttpError, ok } from "@oazapfts/runtime";

import { createAccount, defaults, getAccount, mint, redeem } from "./client/kesc.js";
import { HEADERS, tell, URL_OF_KESC } from "./story.mjs";

Object.assign(defaults, { baseUrl: URL_OF_KESC, headers: HEADERS });

await tell({
  open: async (request) => (await ok(createAccount(request))).id,
  mint: async (request) => (await ok(mint(request))).amount,
  balance: async (accountId) => (await ok(getAccount(accountId))).available_balance,
  refusedRedeem: async (request) => {
    try {
      await ok(redeem(request));
    } catch (refusal) {
      if (refusal instanceof HttpError) return refusal.data.code;
    }
  },
});
