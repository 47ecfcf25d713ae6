import { once } from "node:events";
import { type ClientRequest, type IncomingMessage, request } from "node:http";

/** One streaming response, read piece by piece. */
export class StreamCaller {
  readonly #req: ClientRequest;
  #res: IncomingMessage | undefined;
  #text = "";
  #end: "open" | "whole" | "cut off" = "open";
  #changed: () => void = () => undefined;

  constructor(address: string, path: string, headers: Readonly<Record<string, string>>, method = "GET") {
    this.#req = request(`http://${address}${path}`, { method, headers, agent: false });
    // The response, or `head`, reports the error.
    this.#req.on("error", () => undefined);
    this.#req.end();
  }

  /** Resolves when the head of the response has come. Rejects if the connection breaks first. */
  async head(): Promise<IncomingMessage> {
    if (this.#res !== undefined) return this.#res;
    const [res] = (await once(this.#req, "response")) as [IncomingMessage];
    this.#res = res;
    res.setEncoding("utf8");
    const finish = (end: "whole" | "cut off") => () => {
      if (this.#end === "open") this.#end = end;
      this.#changed();
    };
    res.on("end", finish("whole"));
    res.on("error", finish("cut off"));
    res.on("close", finish("cut off"));
    return res;
  }

  /** Begins to read. */
  async read(): Promise<this> {
    const res = await this.head();
    res.on("data", (text: string) => {
      this.#text += text;
      this.#changed();
    });
    return this;
  }

  get text(): string {
    return this.#text;
  }

  /** Resolves once the text has the wanted part. Rejects if the body ends first. */
  async until(part: string): Promise<void> {
    while (!this.#text.includes(part)) {
      if (this.#end !== "open") throw new Error(`the body ended without ${part}: ${this.#text}`);
      await this.#change();
    }
  }

  /** Resolves to how the body has ended. */
  async end(): Promise<"whole" | "cut off"> {
    while (this.#end === "open") await this.#change();
    return this.#end;
  }

  close(): void {
    this.#req.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#changed = resolve;
    });
  }
}
