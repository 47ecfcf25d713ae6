import { type DescField, type DescMessage, type DescMethod, ScalarType } from "@bufbuild/protobuf";

type MessageList = DescField & { readonly fieldKind: "list"; readonly message: DescMessage };

/** How REST serves an rpc that streams its response. */
export interface StreamRule {
  /** The field of each message that holds the next items of the stream. */
  readonly list: MessageList;
  /** Only for a stream without an end: how a client goes on where it stopped. */
  readonly resumption: Resumption | undefined;
}

export interface Resumption {
  /** The field of the request that says after which item the stream begins. */
  readonly after: DescField;
  /** The field of each message that says how far the stream has come. */
  readonly next: DescField;
  /** The field of an item that says where it stands. */
  readonly sequence: DescField;
  /** The field of an item that says what it is, if it has one. */
  readonly type: DescField | undefined;
}

/**
 * Reads how the rpc is served. `resumesBy` is its option, empty for a stream that ends. Throws when
 * its messages do not fit: the client would lose what is in no item.
 */
export function streamRuleOf({ input, output }: DescMethod, resumesBy: string): StreamRule {
  const list = listOf(output);
  if (resumesBy === "") {
    if (output.fields.length > 1) throw new Error(`${output.typeName} must have nothing but its list`);
    return { list, resumption: undefined };
  }
  const type = list.message.fields.find(({ name, scalar }) => name === "type" && scalar === ScalarType.STRING);
  return {
    list,
    resumption: {
      after: positionIn(input, resumesBy),
      next: positionIn(output, "next_sequence"),
      sequence: positionIn(list.message, "sequence"),
      type,
    },
  };
}

function listOf({ typeName, fields }: DescMessage): MessageList {
  const [list, ...others] = fields.filter(({ fieldKind }) => fieldKind === "list");
  if (list?.message === undefined || others.length > 0) throw new Error(`${typeName} must have one list, of messages`);
  return list as MessageList;
}

/** Returns the int64 of that name. */
function positionIn({ typeName, fields }: DescMessage, name: string): DescField {
  const field = fields.find((candidate) => candidate.name === name);
  if (field?.scalar !== ScalarType.INT64 || field.fieldKind !== "scalar") {
    throw new Error(`${typeName} has no int64 ${name}`);
  }
  return field;
}
