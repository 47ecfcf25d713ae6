import { createAccount, getAccount, mint, redeem } from "./client/kesc.js";
import { HEADERS, tell } from "./story.mjs";

const options = { headers: HEADERS };

await tell({
  open: async (request) => {
    const opened = await createAccount(request, options);
    if (opened.status !== 201) throw new Error(JSON.stringify(opened));
    return opened.data.id;
  },
  mint: async (request) => {
    const minted = await mint(request, options);
    if (minted.status !== 201) throw new Error(JSON.stringify(minted));
    return minted.data.amount;
  },
  balance: async (accountId) => {
    const read = await getAccount(accountId, undefined, options);
    if (read.status !== 200) throw new Error(JSON.stringify(read));
    return read.data.available_balance;
  },
  refusedRedeem: async (request) => {
    const redeemed = await redeem(request, options);
    return redeemed.status === 422 ? redeemed.data.code : undefined;
  },
});
