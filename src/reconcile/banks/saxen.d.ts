// saxen publishes no types. This file declares what we call, as of saxen 11.2.
declare module "saxen" {
  type Context = () => { readonly line: number };

  export class Parser {
    on(
      event: "openTag",
      listener: (
        name: string,
        attributes: () => Readonly<Record<string, string>>,
        decode: (text: string) => string,
        isEmpty: boolean,
        context: Context,
      ) => void,
    ): this;
    on(event: "closeTag", listener: (name: string) => void): this;
    on(event: "text", listener: (text: string, decode: (text: string) => string, context: Context) => void): this;
    on(event: "cdata", listener: (text: string, context: Context) => void): this;
    on(event: "attention", listener: (text: string, decode: unknown, context: Context) => void): this;
    on(event: "error" | "warn", listener: (error: Error, context: Context) => void): this;
    ns(prefixes: Readonly<Record<string, string>>): this;
    parse(xml: string): unknown;
  }
}
