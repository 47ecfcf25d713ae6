import { setConfig } from "@kubb/plugin-client/clients/axios";
import { isAxiosError } from "axios";

import { createAccount } from "./client/clients/createAccount.js";
import { getAccount } from "./client/clients/getAccount.js";
import { mint } from "./client/clients/mint.js";
import { redeem } from "./client/clients/redeem.js";
import type { Redeem422 } from "./client/types/Redeem.js";
import { HEADERS, tell, URL_OF_KESC } from "./story.mjs";

setConfig({ baseURL: URL_OF_KESC, headers: HEADERS });

await tell({
  open: async (request) => (await createAccount(request)).id,
  mint: async (request) => (await mint(request)).amount,
  balance: async (accountId) => (await getAccount(accountId)).available_balance,
  refusedRedeem: async (request) => {
    try {
      await redeem(request);
    } catch (error) {
      if (isAxiosError<Redeem422>(error)) return error.response?.data.code;
    }
  },
});
