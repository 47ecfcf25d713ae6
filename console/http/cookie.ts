import type { Request, Response } from "express";

// The characters of a session's token and of an operator's key. Metadata of gRPC takes them all.
const TOKEN = /^[A-Za-z0-9_-]{1,256}$/;

/** The cookie that holds the token of a session. */
export interface SessionCookie {
  /** Returns the token; undefined if the browser sent none. */
  read(req: Request): string | undefined;
  set(res: Response, token: string): void;
  clear(res: Response): void;
}

/**
 * Makes the cookie for an origin. Without https its name has the port: browsers send the cookies of
 * one port of a host to all others.
 */
export function sessionCookie(origin: string): SessionCookie {
  const { protocol, port } = new URL(origin);
  const isSecure = protocol === "https:";
  const name = isSecure ? "__Host-kesc" : `kesc-${port === "" ? "80" : port}`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  return {
    read(req) {
      const pairs = (req.headers.cookie ?? "").split(";").map((pair) => pair.trim());
      const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
      const [value = ""] = values;
      return values.length === 1 && TOKEN.test(value) ? value : undefined;
    },
    set(res, token) {
      res.append("Set-Cookie", `${name}=${token}; ${attributes}`);
    },
    clear(res) {
      res.append("Set-Cookie", `${name}=; ${attributes}; Max-Age=0`);
    },
  };
}
