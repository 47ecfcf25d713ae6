import { readFileSync } from "node:fs";

import { readBaseUrl } from "../../runtime/transport/base-url.js";
import type { Values } from "../../runtime/variables.js";
import { callbackToken } from "../rails/callback-token.js";
import type { CallbackUrl } from "../rails/rail-kind.js";
import { RAILS } from "../rails/rails.js";
import { OperatorError } from "./operator-error.js";

/** Where rails call back. */
export interface CallbackSettings {
  /** The URL of the gateway, without a slash at its end. */
  readonly baseUrl: string;
  readonly secretFile: string;
}

type CallbackValues = Pick<Values, "KESC_CALLBACK_BASE_URL" | "KESC_CALLBACK_SECRET_FILE">;

/** Returns what is wrong with the variables; one sentence each. */
export function callbackProblems({ KESC_CALLBACK_BASE_URL: text }: CallbackValues): readonly string[] {
  if (text === undefined) return [];
  const read = readBaseUrl(text);
  if (!read.ok) return [`KESC_CALLBACK_BASE_URL ${read.problem}; it is "${text}".`];
  return RAILS.flatMap(({ name, forbiddenInCallbackUrl }) => {
    const [word] = forbiddenInCallbackUrl?.exec(read.url) ?? [];
    return word === undefined
      ? []
      : [
          `KESC_CALLBACK_BASE_URL must not contain "${word}": the rail ${name} refuses such an address; it is "${text}".`,
        ];
  });
}

export function callbackSettingsOf({
  KESC_CALLBACK_BASE_URL: text,
  KESC_CALLBACK_SECRET_FILE: secretFile,
}: CallbackValues): CallbackSettings | undefined {
  const read = text === undefined ? undefined : readBaseUrl(text);
  return read?.ok !== true || secretFile === undefined ? undefined : { baseUrl: read.url, secretFile };
}

/** The secrets of the tokens in callback addresses. The first makes new tokens. */
export type CallbackSecrets = readonly [Buffer, ...Buffer[]];

const SECRET_LINE = /^[0-9a-f]{64}$/;
const SECRETS_MAX = 2;

/**
 * Reads the secrets: one line, or during a rotation two, the new one first. Throws an
 * OperatorError, whose message never repeats the content.
 */
export function readCallbackSecrets({ secretFile }: Pick<CallbackSettings, "secretFile">): CallbackSecrets {
  const problem = (words: string, cause?: unknown): OperatorError =>
    new OperatorError(
      `KESC_CALLBACK_SECRET_FILE ${words}; it is "${secretFile}". To make a secret: openssl rand -hex 32`,
      { cause },
    );
  let text: string;
  try {
    text = readFileSync(secretFile, "utf8");
  } catch (error) {
    throw problem("names a file that cannot be read", error);
  }
  const lines = text.split(/\r?\n/).filter((line) => line !== "");
  if (lines.length > SECRETS_MAX || !lines.every((line) => SECRET_LINE.test(line))) {
    throw problem("must hold one secret, or two during a rotation: lines of 64 characters from 0-9 and a-f");
  }
  const [first, ...others] = lines.map((line) => Buffer.from(line, "hex"));
  if (first === undefined) throw problem("names an empty file");
  return [first, ...others];
}

/** Returns the addresses of the callbacks of one cell. */
export function callbackUrls(
  { baseUrl }: Pick<CallbackSettings, "baseUrl">,
  [secret]: CallbackSecrets,
  cell: number,
): CallbackUrl {
  return (purpose, uuid) => `${baseUrl}/callbacks/${callbackToken(secret, { cell, purpose, uuid })}`;
}
