/** Result codes with their descriptions. Messages send most of the codes as numbers. */
export const RESULTS = {
  "0": "The service request is processed successfully.",
  "1": "The balance is insufficient for the transaction.",
  "2": "Declined due to limit rule: less than the minimum transaction amount.",
  "3": "Declined due to limit rule: greater than the maximum transaction amount.",
  "4": "Declined due to limit rule: would exceed the daily transfer limit.",
  "8": "Declined due to limit rule: would exceed the maximum balance.",
  "15": "Duplicate Detected",
  "17": "Rule limited.",
  "21": "The initiator is not allowed to initiate this request.",
  "25": "A parameter of the request is invalid.",
  "1019": "Transaction has expired.",
  "1025": "An error occurred while sending a push request.",
  "1031": "Request cancelled",
  "1032": "Request cancelled by user",
  "1036": "SMSC ACK timeout.",
  "1037": "DS timeout user cannot be reached",
  "2001": "The initiator information is invalid.",
  "2006": "Declined due to account rule: the account status does not allow this transaction.",
  "2028": "The request is not permitted according to product assignment.",
  "2029": "Unresolved reason type.",
  "2032": "The transaction receipt number does not exist.",
  "2033": "The transaction does not exist.",
  "2040": "Credit Party customer type (Unregistered or Registered Customer) can't be supported by the service.",
  "4999": "The transaction is still under processing",
  "8006": "The security credential is locked.",
  SFC_IC0003: "The operator does not exist.",
  R000001: "The transaction has already been reversed.",
  R000002: "The OriginalTransactionID is invalid.",
} as const;

/** The codes with which a business refuses a payment that its ValidationURL is asked about. */
export const VALIDATION_REFUSALS: Readonly<Record<string, string>> = {
  C2B00011: "Invalid MSISDN",
  C2B00012: "Invalid Account Number",
  C2B00013: "Invalid Amount",
  C2B00014: "Invalid KYC Details",
  C2B00015: "Invalid Shortcode",
  C2B00016: "Other Error",
};

export type ResultCode = keyof typeof RESULTS;
