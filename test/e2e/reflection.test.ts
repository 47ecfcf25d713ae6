import { execFile } from "node:child_process";
import { promisify } from "node:util";

import { expect } from "chai";

import { readContract } from "../../src/grpc/messages/contract.js";
import { fresh, newAccount } from "../support/service/each-engine.js";
import { type Service, sharedService } from "../support/service/service.js";

const run = promisify(execFile);
const rpcs = readContract().services.flatMap(({ name, rpcs: own }) => own.map((rpc) => ({ service: name, ...rpc })));

// `buf curl` speaks the protocol of grpcurl, and the package registry has it.
for (const version of ["grpc-v1", "grpc-v1alpha"]) {
  describe(`an engineer with reflection (${version}) and no proto file`, () => {
    let service: Service;
    let base: string;
    const options = ["--protocol", "grpc", "--http2-prior-knowledge", "--reflect-protocol", version];

    before(async () => {
      service = await sharedService("sqlite");
      base = `http://${service.grpcAddress}`;
    });

    it("lists every service and every rpc", async () => {
      const services = await run("node_modules/.bin/buf", ["curl", ...options, "--list-services", base]);
      expect(services.stdout.trim().split("\n")).to.include.members([
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
        ...new Set(rpcs.map((rpc) => rpc.service)),
      ]);
      const methods = await run("node_modules/.bin/buf", ["curl", ...options, "--list-methods", base]);
      expect(methods.stdout.trim().split("\n")).to.include.members(rpcs.map(({ path }) => path.slice(1)));
    });

    it("calls every rpc", async () => {
      const [account_id, frozen] = [await newAccount(service), await newAccount(service)];
      const call = async (rpc: { path: string }, request: object): Promise<Record<string, unknown>> => {
        const header = `x-api-key: ${service.a.key}`;
        const words = ["curl", ...options, "--header", header, "--data", JSON.stringify(request), base + rpc.path];
        const { stdout, stderr } = await run("node_modules/.bin/buf", words).catch((error: unknown) => {
          return error as { stdout: string; stderr: string };
        });
        return JSON.parse(stdout === "" ? stderr : stdout) as Record<string, unknown>;
      };
      const transaction_id = "txn_01jd2r6p5vf8ksw3xhb1z7q4ye";
      const webhook_endpoint_id = "whe_01jd2r6p5vf8ksw3xhb1z7q4ye";
      const movement = (): object => ({ account_id, amount: "1.00", reference: fresh("reflected") });
      const requests: Record<string, object> = {
        createAccount: { user_id: fresh("reflected"), phone_number: "0712345678" },
        getAccount: { account_id },
        listAccounts: { page_size: 1 },
        updateAccount: { account_id, phone_number: "0733111222" },
        unfreezeAccount: { account_id, freeze_id: "frz_01jd2r6p5vf8ksw3xhb1z7q4ye" },
        mint: movement(),
        redeem: movement(),
        batchCreateTransactions: { requests: [{ mint: movement() }, { redeem: movement() }, {}] },
        importTransactions: { requests: [{ mint: movement() }, { redeem: movement() }] },
        listTransactions: { account_id, page_size: 1 },
        listEvents: { account_id, page_size: 1 },
        // No book has it, so the stream ends with a refusal.
        watchEvents: { after_sequence: 1_000_000_000 },
        getStatement: { account_id, start: "2026-01-01", end: "2026-01-31" },
        // The periods are not over, so the streams end with a refusal, too.
        exportStatement: { account_id, start: "2026-01-01", end: "2126-01-01" },
        exportJournal: { start: "2026-01-01", end: "2126-01-01" },
        exportGeneralLedger: { start: "2026-01-01", end: "2126-01-01" },
        getSupply: {},
        getLimits: { account_id },
        // No book of the service is sealed.
        getCheckpoint: {},
        getInclusionProof: { sequence: 1 },
        getConsistencyProof: { from_size: 1 },
        createWebhookEndpoint: { url: `https://${fresh("reflected")}.example/` },
        listWebhookEndpoints: {},
        ...Object.fromEntries(
          [
            "getWebhookEndpoint",
            "deleteWebhookEndpoint",
            "rotateWebhookSecret",
            "sendTestEvent",
            "listWebhookDeliveries",
          ].map((name) => [name, { webhook_endpoint_id }]),
        ),
        updateWebhookEndpoint: { webhook_endpoint_id, description: "x" },
        resendWebhookDelivery: { webhook_endpoint_id, sequence: 1 },
        replayWebhookEvents: { webhook_endpoint_id, from_sequence: 1, until_sequence: 1 },
        closeAccount: { account_id },
        freezeAccount: { account_id: frozen, reason_code: "FREEZE_REASON_FRAUD" },
        getTransaction: { transaction_id },
        reverseTransaction: { transaction_id },
        cancelTransaction: { transaction_id },
        getPayment: { transaction_id },
        resolveTransaction: { transaction_id, failed: {} },
        attendTransaction: { transaction_id, flag: "FLAG_REASON_NOT_CREDITED" },
        advanceTransaction: { transaction_id },
        receiveCallback: { token: "x", body: { content_type: "text/plain", data: "aGVsbG8=" } },
      };
      expect(Object.keys(requests)).to.have.members(rpcs.map(({ localName }) => localName));
      for (const [name, request] of Object.entries(requests)) {
        const rpc = rpcs.find(({ localName }) => localName === name);
        const answer = await call(rpc ?? { path: "" }, request);
        // The resources do not exist, and no book is sealed: these requests must get our own
        // refusal, with its details.
        const ofNone = ["transaction_id", "freeze_id", "webhook_endpoint_id"].some((field) => field in request);
        const namesNone = ofNone || rpc?.service === "kesc.v1.SealService";
        const refusal = name === "watchEvents" || name.startsWith("export") ? "invalid_argument" : undefined;
        const expected = namesNone ? "not_found" : refusal;
        expect(answer["code"], `${name}: ${JSON.stringify(answer)}`).to.equal(expected);
        // The engineer can read the details of one refusal among many results, too.
        if (name.startsWith("batch")) expect(JSON.stringify(answer)).to.include('"reason":"INVALID_FIELD"');
      }
    });
  });
}
