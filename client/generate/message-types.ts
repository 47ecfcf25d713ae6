import { type DescEnum, type DescField, type DescMessage, type DescOneof, ScalarType } from "@bufbuild/protobuf";
import { status } from "@grpc/grpc-js";

import { canBeNull, commentOf, lineOf } from "../../contract/comments.js";
import { enumName } from "../../contract/json/read-scalar.js";
import { RPC_STATUS, TIMESTAMP } from "../../contract/json-support.js";
import type { ClientContract } from "./client-contract.js";

type Direction = "request" | "response";

/** The names of the gRPC statuses, by their numbers. */
export const STATUS_CODES = Object.keys(status).filter((name) => !/^[0-9]/.test(name));

const HEAD = `// Made from the contract by client/generate. DO NOT EDIT.

/** The gRPC status of a call that failed. */
export type StatusCode = ${STATUS_CODES.map((name) => `"${name}"`).join(" | ")};

/** A value that only a newer service knows. */
export type Unrecognized = "unrecognized";

/** One of the members, and none of the others. */
type ExactlyOne<Members> = {
  [Name in keyof Members]: Pick<Members, Name> & { readonly [Other in Exclude<keyof Members, Name>]?: undefined };
}[keyof Members];

/** A field that was refused. Its message continues a sentence that begins with the field's name. */
export interface FieldError {
  readonly field: string;
  readonly message: string;
  readonly code: string;
}

/** Why a call failed. Programs read \`reason\` and \`facts\`; the message is for people. */
export interface Refusal {
  readonly code: StatusCode;
  readonly message: string;
  /**
   * Why the service refused the call. Undefined if something else failed, such as the connection,
   * or if the service is newer than this client.
   */
  readonly reason?: KescErrorReason | undefined;
  /** The facts of the reason, as docs/errors.md lists them. */
  readonly facts: Readonly<Record<string, string>>;
  /** Every field that was refused, for INVALID_FIELD. */
  readonly fields: readonly FieldError[];
  /** The time after which the service advises to repeat the call, in milliseconds. */
  readonly retryAfterMillis?: number | undefined;
}
`;

/** The types of the messages and enums, as a file of TypeScript. */
export function messageTypes(contract: ClientContract, reasons: DescEnum): string {
  const types = [
    reasonType(reasons),
    ...[...contract.enums].map(enumType),
    ...[...contract.requests].map((desc) => requestType(contract, desc)),
    ...[...contract.responses].map(responseType),
  ];
  return [HEAD, ...types].join("\n");
}

/** A comment in the form of TypeScript, or nothing. */
export function docOf(text: string, indent = ""): string {
  if (text === "") return "";
  const lines = text.replaceAll("*/", "*\\/").split("\n");
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join("\n")}\n${indent} */\n`;
}

function reasonType(desc: DescEnum): string {
  const codes = desc.values.slice(1).map(({ name }) => `"${name.slice(desc.sharedPrefix?.length ?? 0)}"`);
  return `${docOf("The reasons that docs/errors.md lists.")}export type KescErrorReason = ${codes.join(" | ")};\n`;
}

function enumType(desc: DescEnum): string {
  const values = desc.values.filter(({ number }) => number !== 0);
  const lines = values.map((value) => `- \`${enumName(desc, value.name)}\`: ${lineOf(value)}`);
  const names = values.map(({ name }) => `"${enumName(desc, name)}"`);
  return `${docOf(`${commentOf(desc)}\n\n${lines.join("\n")}`)}export type ${desc.name} = ${names.join(" | ")};\n`;
}

function requestType({ isRequired }: ClientContract, desc: DescMessage): string {
  const member = (field: DescField, mark: string): string =>
    `${docOf(commentOf(field), "  ")}  readonly ${field.name}${mark}: ${typeOf(field, "request")};\n`;
  const isOneOf = ({ oneof }: DescField): boolean => oneof !== undefined && isNeeded(oneof);
  const plain = desc.fields.filter((field) => !isOneOf(field));
  const members = plain.map((field) => (isRequired(field) ? member(field, "") : optionalMember(member, field)));
  const choices = desc.oneofs
    .filter(isNeeded)
    .map(({ fields }) => ` & ExactlyOne<{\n${fields.map((field) => member(field, "")).join("")}}>`);
  return choices.length === 0
    ? `${docOf(commentOf(desc))}export interface ${desc.name} {\n${members.join("")}}\n`
    : `${docOf(commentOf(desc))}export type ${desc.name} = {\n${members.join("")}}${choices.join("")};\n`;
}

function optionalMember(member: (field: DescField, mark: string) => string, field: DescField): string {
  return member(field, "?").replace(/;\n$/, " | undefined;\n");
}

/** Whether one of the members must be set. OpenAPI reads the same words. */
function isNeeded(oneof: DescOneof): boolean {
  return lineOf(oneof).endsWith("Required.");
}

function responseType(desc: DescMessage): string {
  const members = desc.fields.map((field) => {
    const mark = canBeAbsent(field) ? "?" : "";
    return `${docOf(commentOf(field), "  ")}  ${field.name}${mark}: ${typeOf(field, "response")};\n`;
  });
  return `${docOf(commentOf(desc))}export interface ${desc.name} {\n${members.join("")}}\n`;
}

function canBeAbsent(field: DescField): boolean {
  if (field.fieldKind === "list" || field.fieldKind === "map") return false;
  if (field.oneof !== undefined || field.proto.proto3Optional) return true;
  return field.message !== undefined && canBeNull(field);
}

function typeOf(field: DescField, direction: Direction): string {
  const one = typeOfOne(field, direction);
  if (field.fieldKind === "map") {
    return direction === "request" ? `Readonly<Record<string, ${one}>>` : `Record<string, ${one}>`;
  }
  if (field.fieldKind !== "list") return one;
  const item = one.includes(" ") ? `(${one})` : one;
  return direction === "request" ? `readonly ${item}[]` : `${item}[]`;
}

function typeOfOne(field: DescField, direction: Direction): string {
  if (field.message?.typeName === TIMESTAMP) return direction === "request" ? "Date | string" : "string";
  if (field.message?.typeName === RPC_STATUS) return "Refusal";
  if (field.message !== undefined) return field.message.name;
  if (field.enum !== undefined) return direction === "request" ? field.enum.name : `${field.enum.name} | Unrecognized`;
  if (field.scalar === ScalarType.STRING) return "string";
  return field.scalar === ScalarType.BOOL ? "boolean" : "number";
}
