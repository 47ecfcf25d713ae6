import * as z from "zod";

/** A variable of the environment. */
export interface Variable<Schema extends z.ZodType> {
  /** The default, as an operator would write it; undefined if `meaning` says what holds instead. */
  readonly fallback: string | undefined;
  readonly meaning: string;
  readonly schema: Schema;
  /** A message never repeats the value of a secret. */
  readonly secret?: true;
}

/** A host and a port to listen on. Port 0 lets the machine choose. */
export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

const HOST_AND_PORT = /^(?:\[([0-9a-fA-F:.]+)\]|([^:\s[\]/]+)):([0-9]{1,5})$/;
const PORT_MAX = 65_535;

function parseHostAndPort(text: string): HostAndPort | undefined {
  const [, ipv6, name, port] = HOST_AND_PORT.exec(text) ?? [];
  const host = ipv6 ?? name;
  return host === undefined || Number(port) > PORT_MAX ? undefined : { host, port: Number(port) };
}

export const hostAndPort = z.string().transform((text, context) => {
  const parsed = parseHostAndPort(text);
  if (parsed === undefined) context.addIssue("must be host:port, such as 127.0.0.1:8080");
  return parsed ?? z.NEVER;
});
export const hostAndPortOrSocket = z
  .string()
  .refine(
    (text) => /^unix:./.test(text) || parseHostAndPort(text) !== undefined,
    "must be host:port or unix:/path, such as 127.0.0.1:50051",
  );
export const databaseUrl = z.string().refine(
  (text) =>
    (/^sqlite:./.test(text) && text !== "sqlite::memory:") ||
    // URL has no form for a user without a host, as in postgres://user@/name?host=/folder.
    (/^postgres(ql)?:\/\//.test(text) && URL.canParse(text.replace("@/", "@localhost/"))),
  "must be sqlite:PATH, such as sqlite:./data/kesc.db, or postgres://USER:PASSWORD@HOST:PORT/DATABASE",
);

/** A URL, without the slash at its end, so that a path can follow. Empty is none. */
export const baseUrl = z
  .string()
  .refine(
    (text) => text === "" || isBaseUrl(text),
    "must be an http:// or https:// URL without a query, such as https://kesc.example.com/api",
  )
  .transform((text) => text.replace(/\/$/, ""));

function isBaseUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#@"<>\\]+(?:\/[A-Za-z0-9._~/-]*)?$/.test(text) && URL.canParse(text);
}

/** The origin of pages with passkeys: they need a name, and https beyond this machine. */
export const passkeyOrigin = z
  .string()
  .refine(
    (text) => /^(https:\/\/(?=[^/]*[a-z])[a-z0-9.-]+|http:\/\/localhost)(:[0-9]{1,5})?$/.test(text) && isOrigin(text),
    "must be https:// and a name, such as https://console.example.com, or http://localhost:8081",
  );

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

export function wholeNumber(min: number, max: number): z.ZodType<number, string> {
  const problem = `must be a whole number from ${String(min)} to ${String(max)}`;
  return z
    .string()
    .regex(/^[0-9]{1,15}$/, { error: problem, abort: true })
    .transform(Number)
    .refine((count) => count >= min && count <= max, problem);
}

export function variable<Schema extends z.ZodType>(
  fallback: string,
  meaning: string,
  schema: Schema,
): Variable<Schema> {
  return { fallback, meaning, schema };
}

export function optionalFile(meaning: string): Variable<z.ZodOptional<z.ZodString>> {
  return { fallback: undefined, meaning, schema: z.string().optional() };
}
