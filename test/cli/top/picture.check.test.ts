import { spawn } from "node:child_process";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";

import { expect } from "chai";
import type { Browser } from "playwright-core";

import { launchBrowser, NO_BROWSER, PICTURES_FOLDER } from "../../support/callers/chromium.js";
import { inTerminal, NO_TERMINAL } from "../../support/callers/terminal.js";
import { KESC } from "../../support/service/kesc.js";
import { Service } from "../../support/service/service.js";

const TITLE = "kesc top in a terminal";
const missing = NO_BROWSER ?? NO_TERMINAL;

const CLEAR = "\u001B[H\u001B[J";
const LOOKS_MIN = 3;

/** The colours of the picture, by the number of the escape sequence. */
const COLOURS: Readonly<Record<string, string>> = { 31: "#f0706a", 32: "#7fc97f", 33: "#e5c07b" };

(missing === undefined ? describe : describe.skip)(missing === undefined ? TITLE : `${TITLE}: ${missing}`, () => {
  let service: Service;
  let browser: Browser;

  before(async () => {
    service = await Service.start("sqlite", { KESC_ADMIN_ADDRESS: "127.0.0.1:0" });
    browser = await launchBrowser();
  });
  after(async () => {
    await browser.close();
    await service.dispose();
  });

  it("shows a service under load, in colours", async () => {
    const [, admin = ""] = /"admin":"([^"]+)"/.exec(service.printed()) ?? [];
    const isOver = new AbortController();
    const load = Promise.all(Array.from({ length: 8 }, (_, line) => callUntil(isOver.signal, service, line)));
    const screen = await screenWith("INSUFFICIENT_FUNDS", admin).finally(() => {
      isOver.abort();
    });
    await load;

    const text = stripVTControlCharacters(screen);
    expect(text).to.match(/^KESC {2}127\.0\.0\.1:\d+/);
    // The load has mints, and calls that are refused.
    expect(text).to.match(/\nMint +[1-9]/);
    expect(text).to.include("INSUFFICIENT_FUNDS");

    const page = await browser.newPage({ viewport: { width: 900, height: 800 }, deviceScaleFactor: 2 });
    await page.setContent(pageOf(screen));
    const terminal = page.locator("main");
    expect((await terminal.innerText()).trim()).to.include(text.trim().split("\n").at(-1)?.trim());
    const refusals = page.getByText("INSUFFICIENT_FUNDS");
    expect(await refusals.getAttribute("style")).to.equal(`color:${String(COLOURS["33"])}`);
    if (PICTURES_FOLDER !== undefined) await terminal.screenshot({ path: join(PICTURES_FOLDER, "top.png") });
  });
});

/** Mints, redeems, reads and lists, one call after the other. */
async function callUntil(signal: AbortSignal, { grpc }: Service, line: number): Promise<void> {
  const user_id = `top-${String(line)}`;
  const { response } = await grpc.call("CreateAccount", { user_id, phone_number: "0712345678" });
  const { id: account_id } = response["account"] as { id: string };
  for (let turn = 0; !signal.aborted; turn += 1) {
    const reference = `${user_id}-${String(turn)}`;
    await grpc.call("Mint", { account_id, amount: "10.00", reference: `${reference}-in` });
    await grpc.call("Redeem", { account_id, amount: "2.50", reference: `${reference}-out` });
    await grpc.call("GetAccount", { account_id });
    if (turn % 20 === line) await grpc.call("ListTransactions", { account_id, page_size: 20 });
    if (turn % 25 === line) await grpc.call("Redeem", { account_id, amount: "1000000.00", reference });
  }
}

/** Returns a screen that `kesc top` draws in a terminal: after some, the first with the word. */
async function screenWith(word: string, address: string): Promise<string> {
  const command = [process.execPath, KESC, "top", "--interval", "1s", "--address", address];
  const env = { PATH: process.env["PATH"], TERM: "xterm-256color" };
  const terminal = spawn("script", inTerminal(command), { env, stdio: ["pipe", "pipe", "ignore"] });
  let printed = "";
  let screens: string[] = [];
  for await (const bytes of terminal.stdout as AsyncIterable<Buffer>) {
    printed += bytes.toString();
    // A screen is whole when the next one begins.
    screens = printed.split(CLEAR).slice(1, -1);
    if (screens.length >= LOOKS_MIN && screens.at(-1)?.includes(word) === true) break;
  }
  terminal.kill();
  return screens.at(-1)?.replaceAll("\r", "") ?? "";
}

/** A page that looks like a terminal with this text. */
function pageOf(screen: string): string {
  return `<!doctype html><meta charset="utf-8"><style>
    body { margin: 0; background: #fff; }
    main { display: inline-block; margin: 0; padding: 0 0 14px; border-radius: 8px; background: #16191d; color: #d5d9de; }
    header { padding: 10px 14px; color: #8b929b; font: 13px sans-serif; }
    header i { display: inline-block; width: 11px; height: 11px; margin-right: 7px; border-radius: 50%; background: #3a4048; }
    pre { margin: 0; padding: 4px 18px; font: 14px/1.45 "DejaVu Sans Mono", monospace; }
    b { color: #fff; } small { font-size: inherit; color: #8b929b; }
  </style><main><header><i></i><i></i><i></i>kesc top</header><pre>${htmlOf(screen)}</pre></main>`;
}

/** Translates the escape sequences that `kesc top` writes. Throws at any other. */
function htmlOf(screen: string): string {
  const open: string[] = [];
  return escaped(screen.trimEnd()).replaceAll(/\u001B\[(\d+)m/g, (sequence, code: string) => {
    if (code === "22" || code === "39") return open.pop() ?? "";
    const colour = COLOURS[code];
    if (code !== "1" && code !== "2" && colour === undefined)
      throw new Error(`no style for ${JSON.stringify(sequence)}`);
    const name = code === "1" ? "b" : code === "2" ? "small" : "span";
    open.push(`</${name}>`);
    return colour === undefined ? `<${name}>` : `<span style="color:${colour}">`;
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
