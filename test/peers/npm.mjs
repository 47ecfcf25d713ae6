// Runs one client of npm, by its name, against the simulator at DARAJA: each of its calls once.
// Prints a line of JSON for each call: its column in the table of docs/daraja.md, and what came.
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , name] = process.argv;
const { CLIENTS, CERTIFICATE, CALLBACKS, CREDENTIAL, RECEIPT } = process.env;
const require = createRequire(join(CLIENTS, "package.json"));
const given = {
  key: "simulated-consumer-key",
  secret: "simulated-consumer-secret",
  passkey: "simulated-passkey",
  shortcode: "174379",
  initiator: "testapi",
  password: "Simulated-Password-1",
  // Each client has a phone of its own, so that no two prompts meet.
  phone: process.env.PHONE,
  url: `${CALLBACKS}/callback`,
};
const { key, secret, passkey, shortcode, initiator, password, phone, url } = given;
const seconds = (count) => new Promise((resolve) => setTimeout(resolve, count * 1_000));

/** By client: makes it, and returns its calls by column. */
const CLIENTS_BY_NAME = {
  "mpesa-node": () => {
    const Mpesa = require("mpesa-node");
    const client = new Mpesa({
      consumerKey: key,
      consumerSecret: secret,
      environment: "sandbox",
      shortCode: shortcode,
      initiatorName: initiator,
      lipaNaMpesaShortCode: shortcode,
      lipaNaMpesaShortPass: passkey,
      securityCredential: password,
      certPath: CERTIFICATE,
    });
    const dataOf = async (answer) => (await answer).data;
    return {
      push: () => dataOf(client.lipaNaMpesaOnline(phone, 10, url, "ref")),
      "push query": ({ push }) => dataOf(client.lipaNaMpesaQuery(push.CheckoutRequestID)),
      B2C: () => dataOf(client.b2c(shortcode, phone, 10, url, url)),
      B2B: () => dataOf(client.b2b(shortcode, "555000", 10, url, url, 4, 4, initiator, "BusinessPayBill", "ref")),
      status: () => dataOf(client.transactionStatus(RECEIPT, shortcode, 4, url, url)),
      balance: () => dataOf(client.accountBalance(shortcode, 4, url, url)),
      reversal: () => dataOf(client.reversal(RECEIPT, 10, url, url, shortcode)),
      register: () => dataOf(client.c2bRegister(url, url)),
      simulate: () => dataOf(client.c2bSimulate(phone, 10, "ref")),
    };
  },
  "mpesa-api": async () => {
    const { Mpesa } = require("mpesa-api");
    const client = new Mpesa(
      { clientKey: key, clientSecret: secret, initiatorPassword: password, certificatePath: CERTIFICATE },
      "sandbox",
    );
    await seconds(0.2);
    const addresses = { QueueTimeOutURL: url, ResultURL: url };
    const party = { Initiator: initiator, PartyA: shortcode, ...addresses };
    return {
      push: () =>
        client.lipaNaMpesaOnline({
          BusinessShortCode: shortcode,
          passKey: passkey,
          Amount: 10,
          PartyA: phone,
          PartyB: shortcode,
          PhoneNumber: phone,
          CallBackURL: url,
          AccountReference: "ref",
        }),
      "push query": ({ push }) =>
        client.lipaNaMpesaQuery({
          BusinessShortCode: shortcode,
          passKey: passkey,
          CheckoutRequestID: push.CheckoutRequestID,
        }),
      B2C: () => client.b2c({ ...party, Amount: 10, PartyB: phone, CommandID: "BusinessPayment" }),
      status: () => client.transactionStatus({ ...party, TransactionID: RECEIPT, IdentifierType: "4" }),
      balance: () => client.accountBalance({ ...party, IdentifierType: "4" }),
      reversal: () =>
        client.reversal({
          ...party,
          TransactionID: RECEIPT,
          Amount: 10,
          ReceiverParty: shortcode,
          RecieverIdentifierType: "11",
        }),
      register: () =>
        client.c2bRegister({
          ShortCode: shortcode,
          ResponseType: "Completed",
          ConfirmationURL: url,
          ValidationURL: url,
        }),
      simulate: () =>
        client.c2bSimulate({
          ShortCode: shortcode,
          CommandID: "CustomerPayBillOnline",
          Amount: 10,
          Msisdn: phone,
          BillRefNumber: "ref",
        }),
    };
  },
  "daraja.js": () => {
    const { Mpesa } = require("daraja.js");
    const client = new Mpesa(
      { consumerKey: key, consumerSecret: secret, securityCredential: CREDENTIAL, organizationShortCode: shortcode },
      "sandbox",
    );
    const dataOf = async (answer) => (await answer).data;
    const c2b = () => client.c2b().shortCode(shortcode);
    return {
      push: () =>
        dataOf(
          client
            .stkPush()
            .shortCode(shortcode)
            .lipaNaMpesaPassKey(passkey)
            .amount(10)
            .phoneNumber(phone)
            .callbackURL(url)
            .accountNumber("ref")
            .description("a description")
            .send(),
        ),
      "push query": ({ push }) =>
        dataOf(
          client
            .stkPush()
            .shortCode(shortcode)
            .lipaNaMpesaPassKey(passkey)
            .checkoutRequestID(push.CheckoutRequestID)
            .queryStatus(),
        ),
      B2C: () =>
        dataOf(
          client
            .b2c()
            .shortCode(shortcode)
            .phoneNumber(phone)
            .amount(10)
            .initiatorName(initiator)
            .remarks("pay")
            .timeoutURL(url)
            .resultURL(url)
            .send(),
        ),
      status: () =>
        dataOf(
          client
            .transactionStatus()
            .shortCode(shortcode)
            .transactionID(RECEIPT)
            .initiator(initiator)
            .timeoutURL(url)
            .resultURL(url)
            .remarks("ask")
            .queryStatus(),
        ),
      balance: () =>
        dataOf(
          client
            .accountBalance()
            .shortCode(shortcode)
            .initiator(initiator)
            .timeoutURL(url)
            .resultURL(url)
            .remarks("ask")
            .query(),
        ),
      reversal: () =>
        dataOf(
          client
            .reversal()
            .shortCode(shortcode)
            .transactionID(RECEIPT)
            .amount(10)
            .initiator(initiator)
            .timeoutURL(url)
            .resultURL(url)
            .remarks("back")
            .send(),
        ),
      register: () => dataOf(c2b().callbackURL(url).confirmationURL(url).validationURL(url).registerURLS()),
      simulate: () => dataOf(c2b().phoneNumber(phone).amount(10).accountNumber("ref").simulate()),
    };
  },
  daraja: () => {
    // The client reads Safaricom's certificate from its own folder.
    const folder = dirname(require.resolve("daraja/package.json"));
    writeFileSync(join(folder, "certificates", "sandbox.cer"), readFileSync(CERTIFICATE));
    const { Mpesa } = require("daraja");
    const client = new Mpesa(shortcode, key, secret, "sandbox");
    return {
      push: () =>
        client.mpesaExpressRequest(10, phone, shortcode, passkey, "CustomerPayBillOnline", "ref", "text", url),
      "push query": ({ push }) => client.mpesaExpressQuery(passkey, push.checkoutRequestId),
      B2C: () => client.b2cPaymentRequest(10, phone, initiator, password, "BusinessPayment", "pay", "x", url, url),
      status: () => client.transactionStatusRequest(RECEIPT, 4, initiator, password, "ask", "x", url, url),
      balance: () => client.accountBalanceRequest(4, initiator, password, "ask", url, url),
      reversal: () => client.reversalRequest(RECEIPT, initiator, password, "back", "x", url, url),
      register: () => client.c2bRegisterUrl(url, url, "Completed"),
      simulate: () => client.c2bSimulateTransaction(10, phone, "ref"),
    };
  },
  mpesapay: async () => {
    const { default: MpesaPay } = await import(pathToFileURL(require.resolve("mpesapay")).href);
    const client = new MpesaPay(key, secret, shortcode, passkey, "ref", "text", shortcode, CREDENTIAL, initiator);
    return {
      push: () => client.stkPush(10, phone, url),
      B2C: () => client.business2Customer(10, phone, "pay", url),
      status: () => client.transactionStatus(RECEIPT, url),
      balance: () => client.accountBalance(url),
    };
  },
  "mpesa-express": () => {
    const Mpesa = require("mpesa-express");
    // It prints each token.
    console.log = () => undefined;
    const client = new Mpesa({
      consumer_key: key,
      consumer_secret: secret,
      passkey,
      BusinessShortCode: shortcode,
      ShortCode: shortcode,
      SecurityCredential: CREDENTIAL,
      Initiator: initiator,
      callBackBaseUrl: CALLBACKS,
    });
    return {
      push: () => client.sktPush(10, phone, "ref", "text"),
      "push query": ({ push }) => client.stkCheck(push.CheckoutRequestID),
      B2C: () => client.b2c(10, shortcode, phone, "pay", "BusinessPayment", "x", CREDENTIAL),
      balance: () => client.checkAccountBalance("AccountBalance", 4, "ask"),
      register: () => client.c2bRegister(url, url, "Completed", shortcode),
      simulate: () => client.c2bTransact(shortcode, "CustomerPayBillOnline", 10, phone, "ref"),
    };
  },
};

const calls = await CLIENTS_BY_NAME[name]();
const answers = {};
for (const [column, call] of Object.entries(calls)) {
  try {
    // The payer answers the prompt after five seconds; a query before that has another answer.
    if (column === "push query") {
      await fetch(`${process.env.DARAJA}/simulator/clock`, { method: "POST", body: '{"advance_seconds": 6}' });
    }
    answers[column] = await call(answers);
    process.stdout.write(`${JSON.stringify({ column, said: JSON.stringify(answers[column] ?? null) })}\n`);
  } catch (error) {
    const { response, data = response?.data, message = String(error) } = error ?? {};
    process.stdout.write(
      `${JSON.stringify({ column, failed: JSON.stringify(data ?? error?.errorMessage ?? message) })}\n`,
    );
  }
  // The refusals of this call are read before those of the next one come.
  await seconds(0.2);
}
