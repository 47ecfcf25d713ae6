import { pngOf, QR_BYTES_MAX, qrModules } from "../qr-code.js";
import type { Answer, Call, Context } from "./context.js";
import { badRequest } from "./problem.js";

/**
 * POST /mpesa/qrcode/v1/generate: a picture that names a payment. What Safaricom's holds is not
 * published. This one holds the fields in their order, with | between them.
 */
export function generateQrCode({ fields }: Call, { clock, ids }: Context): Answer {
  const texts = [
    fields.text("TrxCode", /^(BG|WA|PB|SM|SB)$/),
    fields.text("CPI", /^\d{5,12}$/),
    String(fields.amountCents() / 100),
    fields.text("RefNo", /^.{1,40}$/),
    fields.text("MerchantName", /^.{1,60}$/),
  ];
  const pixels = Number(fields.text("Size", /^[1-9]\d{1,3}$/));
  const modules = qrModules(texts.join("|"));
  if (modules === undefined) throw badRequest("MerchantName", `The fields must have ${String(QR_BYTES_MAX)} bytes`);
  const body = {
    ResponseCode: ids.conversation(clock.nowMillis()),
    RequestID: ids.originatorConversation(),
    ResponseDescription: "QR Code Successfully Generated.",
    QRCode: pngOf(modules, pixels).toString("base64"),
  };
  return { body };
}
