import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";

interface GivenFile {
  readonly field: string;
  readonly text: string | Buffer;
  /** Empty: no file was chosen. */
  readonly name?: string;
}

interface Ask {
  readonly headers?: Readonly<Record<string, string>>;
  /** The operator's key, or the token of a session, in the cookie. */
  readonly token?: string;
  /** The fields of a form: it is a POST. */
  readonly form?: Readonly<Record<string, string>>;
  /** A file that the form has in this field, or several. */
  readonly file?: GivenFile | readonly GivenFile[];
  /** The address of the browser. */
  readonly from?: string;
}

export interface Page {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly html: string;
  readonly bytes: Buffer;
}

/** Asks the console as a browser does, or with other headers. Follows no redirect. */
export async function ask(
  origin: string,
  path: string,
  { headers = {}, token, form, file, from }: Ask = {},
): Promise<Page> {
  const { host, port } = new URL(origin);
  const own = {
    host,
    ...(token === undefined ? {} : { cookie: `kesc-${port}=${token}` }),
    ...(form === undefined
      ? {}
      : {
          origin,
          "sec-fetch-site": "same-origin",
          "content-type": file === undefined ? FORM : `multipart/form-data; boundary=${BOUNDARY}`,
        }),
  };
  const sent = request({
    host: "127.0.0.1",
    port,
    ...(from === undefined ? {} : { localAddress: from }),
    path,
    method: form === undefined ? "GET" : "POST",
    headers: Object.fromEntries(Object.entries({ ...own, ...headers }).filter(([, value]) => value !== "")),
  });
  sent.on("error", () => undefined);
  sent.end(
    form === undefined ? undefined : file === undefined ? new URLSearchParams(form).toString() : partsOf(form, file),
  );
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const bytes = await buffer(response);
  return { status: response.statusCode ?? 0, headers: response.headers, html: bytes.toString("utf8"), bytes };
}

/** Signs in with a link that has a code. Returns the token of the session. */
export async function signInWith(origin: string, link = ""): Promise<string> {
  const code = new URL(link).searchParams.get("code") ?? "";
  const { headers } = await ask(origin, "/sign-in", { form: { code } });
  return headers["set-cookie"]?.[0]?.split(/[=;]/)[1] ?? "";
}

const FORM = "application/x-www-form-urlencoded";
const BOUNDARY = "----a-boundary";

function partsOf(form: Readonly<Record<string, string>>, file: NonNullable<Ask["file"]>): Buffer {
  const parts = [
    ...Object.entries(form).map(([name, value]) => [`name="${name}"`, value] as const),
    ...[file]
      .flat()
      .map(
        ({ field, text, name = "statement.csv" }) =>
          [`name="${field}"; filename="${name}"\r\nContent-Type: text/csv`, text] as const,
      ),
  ];
  const written = parts.flatMap(([head, value]) => [
    Buffer.from(`--${BOUNDARY}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
    Buffer.from(value),
    Buffer.from("\r\n"),
  ]);
  return Buffer.concat([...written, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** Returns the token of the form with that action. */
export function formTokenIn(html: string, action: string): string {
  const [, token = ""] =
    new RegExp(`action="${action}"[^>]*><input type="hidden" name="form_token" value="([^"]+)"`).exec(html) ?? [];
  return token;
}

/** Returns the fields of the form with that action, as a browser would send them. */
export function fieldsIn(html: string, action: string): Record<string, string> {
  const form = html.split("<form ").find((part) => part.includes(`action="${action}"`));
  if (form === undefined) throw new Error(`no form to ${action}`);
  const inputs = form.split("</form>")[0]?.matchAll(/<input ([^>]*)>/g) ?? [];
  const valueOf = (attributes: string, name: string): string =>
    unescaped(new RegExp(`${name}="([^"]*)"`).exec(attributes)?.[1] ?? "");
  return Object.fromEntries(
    [...inputs].map(([, attributes = ""]) => [valueOf(attributes, "name"), valueOf(attributes, "value")]),
  );
}

/** Returns what a person reads. */
export function textOf(html: string): string {
  return unescaped(html.replaceAll(/<[^>]*>/g, " ")).replaceAll(/\s+/g, " ");
}

function unescaped(text: string): string {
  return text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Formats cents as the pages do. */
export function shownCents(amount: bigint): string {
  const digits = String(amount < 0n ? -amount : amount).padStart(3, "0");
  const whole = BigInt(digits.slice(0, -2)).toLocaleString("en");
  return `${amount < 0n ? "−" : ""}${whole}.${digits.slice(-2)}`;
}
