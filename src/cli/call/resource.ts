/** A resource of the API with an rpc to get one and an rpc to list them. */
export interface CliResource {
  readonly name: "account" | "transaction";
  readonly getMethod: string;
  readonly listMethod: string;
  readonly idField: string;
  readonly example: string;
  /** The fields that the table of a list shows. */
  readonly columns: readonly string[];
}

export const ACCOUNT: CliResource = {
  name: "account",
  getMethod: "kesc.v1.AccountService/GetAccount",
  listMethod: "kesc.v1.AccountService/ListAccounts",
  idField: "account_id",
  example: "phone_number=0712345678 statuses=active statuses=frozen",
  columns: ["id", "status", "available_balance", "held_balance", "phone_number", "user_id"],
};

export const TRANSACTION: CliResource = {
  name: "transaction",
  getMethod: "kesc.v1.TransactionService/GetTransaction",
  listMethod: "kesc.v1.TransactionService/ListTransactions",
  idField: "transaction_id",
  example: "statuses=pending statuses=failed min_amount=1000 'metadata[order_id]=17'",
  columns: ["id", "created_at", "type", "status", "amount", "account_id", "reference"],
};
