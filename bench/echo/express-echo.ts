/** The gateway's yardstick: a bare Express app that answers JSON as long as a mint's answer. */
import express from "express";

const SAMPLE_TRANSACTION = {
  id: "txn_01jd2r6p5vf8ksw3xhb1z7q4ye",
  type: "mint",
  status: "completed",
  status_note: null,
  description: null,
  metadata: {},
  rail: "direct",
  rail_receipt: null,
  created_at: "2026-01-02T03:04:05.678Z",
  updated_at: "2026-01-02T03:04:05.678Z",
  completed_at: "2026-01-02T03:04:05.678Z",
  corrects_transaction_id: null,
  correction: null,
  reversed_by_transaction_id: null,
  available_balance_after: 1250.0,
  needs_attention: false,
};

const app = express();
app.use(express.json());
app.post("/transactions/mint", (request, response) => {
  response.status(201).json({ ...SAMPLE_TRANSACTION, ...(request.body as object) });
});
const listener = app.listen(0, "127.0.0.1", () => {
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("not a TCP address");
  process.send?.({ kind: "ready", address: `127.0.0.1:${String(address.port)}` });
});
process.on("SIGTERM", () => process.exit(0));
process.on("disconnect", () => process.exit(0));
