import type { OpenPayment } from "../../../src/rails/order.js";

// Messages as Daraja sends them, from Safaricom's documents (docs/mpesa.md).

type Given = Readonly<Record<string, unknown>>;

export const CHECKOUT_REQUEST_ID = "ws_CO_191220191020363925";

/** The callback of a paid prompt, or with `given` in its place. */
export function stkCallback(given: Given = {}, items: readonly Given[] = PAID_ITEMS): string {
  const paid = (given["ResultCode"] ?? 0) === 0;
  return JSON.stringify({
    Body: {
      stkCallback: {
        MerchantRequestID: "29115-34620561-1",
        CheckoutRequestID: CHECKOUT_REQUEST_ID,
        ResultCode: 0,
        ResultDesc: "The service request is processed successfully.",
        ...(paid ? { CallbackMetadata: { Item: items } } : {}),
        ...given,
      },
    },
  });
}

export const PAID_ITEMS: readonly Given[] = [
  { Name: "Amount", Value: 100.0 },
  { Name: "MpesaReceiptNumber", Value: "NLJ7RT61SV" },
  { Name: "Balance" },
  { Name: "TransactionDate", Value: 20191219102115 },
  { Name: "PhoneNumber", Value: 254708374149 },
];

/** The result of a payout that was made, or with `given` in its place. */
export function b2cResult({ transactionId }: Pick<OpenPayment, "transactionId">, given: Given = {}): string {
  const paid = (given["ResultCode"] ?? 0) === 0;
  return JSON.stringify({
    Result: {
      ResultType: 0,
      ResultCode: 0,
      ResultDesc: "The service request is processed successfully.",
      OriginatorConversationID: transactionId,
      ConversationID: "AG_20240706_2010364430d9bbdaf872",
      TransactionID: "SG632NMUAB",
      ...(paid ? { ResultParameters: { ResultParameter: parameters(PAID_PARAMETERS) } } : {}),
      ReferenceData: { ReferenceItem: { Key: "QueueTimeoutURL", Value: "https://internalsandbox.safaricom.co.ke/x" } },
      ...given,
    },
  });
}

const PAID_PARAMETERS: Given = {
  TransactionAmount: 100,
  TransactionReceipt: "SG632NMUAB",
  ReceiverPartyPublicName: "254708374149 - NICHOLAS JOHN SONGOK",
  TransactionCompletedDateTime: "06.07.2024 22:48:52",
  B2CUtilityAccountAvailableFunds: 8959269.6,
  B2CRecipientIsRegisteredCustomer: "Y",
};

/** The result of a query for a payout that was made, or with other parameters. */
export function statusResult(
  { transactionId }: Pick<OpenPayment, "transactionId">,
  given: Given = {},
  result: Given = {},
): string {
  return JSON.stringify({
    Result: {
      ResultType: 0,
      ResultCode: 0,
      ResultDesc: "The service request is processed successfully.",
      OriginatorConversationID: "3213-416199-2",
      ConversationID: "AG_20180223_0000493344ae97d86f75",
      TransactionID: "MBN0000000",
      ResultParameters: {
        ResultParameter: parameters({
          DebitPartyName: "600992 - Duka Ltd",
          CreditPartyName: "254708374149 - NICHOLAS JOHN SONGOK",
          OriginatorConversationID: transactionId,
          InitiatedTime: "20180223054112",
          TransactionReason: undefined,
          TransactionStatus: "Completed",
          Amount: "100",
          ReceiptNo: "SG632NMUAB",
          ...given,
        }),
      },
      ...result,
    },
  });
}

export function balanceResult(accountBalance: unknown, given: Given = {}): string {
  return JSON.stringify({
    Result: {
      ResultType: "0",
      ResultCode: "0",
      ResultParameters: {
        ResultParameter: parameters({ AccountBalance: accountBalance, BOCompletedTime: 20200109125710 }),
      },
      ...given,
    },
  });
}

export function parameters(given: Given): Given[] {
  return Object.entries(given).map(([Key, Value]) => (Value === undefined ? { Key } : { Key, Value }));
}
