import { AccountApi } from "./client/apis/AccountApi.js";
import { TransactionApi } from "./client/apis/TransactionApi.js";
import { Configuration, ResponseError } from "./client/runtime.js";
import { HEADERS, type Order, tell, URL_OF_KESC } from "./story.mjs";

const configuration = new Configuration({ basePath: URL_OF_KESC, apiKey: HEADERS["X-API-Key"] });
const accounts = new AccountApi(configuration);
const transactions = new TransactionApi(configuration);
const own = ({ account_id, ...order }: Order) => ({ accountId: account_id, ...order });

await tell({
  open: async ({ user_id, phone_number, email }) => {
    const createAccountRequest = { userId: user_id, phoneNumber: phone_number, email };
    return (await accounts.createAccount({ createAccountRequest })).id;
  },
  mint: async (order) => (await transactions.mint({ mintRequest: own(order) })).amount,
  balance: async (accountId) => (await accounts.getAccount({ accountId })).availableBalance,
  refusedRedeem: async (order) => {
    try {
      await transactions.redeem({ redeemRequest: own(order) });
    } catch (refusal) {
      if (refusal instanceof ResponseError) return ((await refusal.response.json()) as { code: string }).code;
    }
  },
});
