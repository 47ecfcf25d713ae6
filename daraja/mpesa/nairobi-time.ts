// M-Pesa writes every time in Nairobi's, which is UTC+3 all year round.

const OFFSET_MILLIS = 3 * 3_600_000;

interface TimeParts {
  year: string;
  month: string;
  day: string;
  hour: string;
  minute: string;
  second: string;
}

export function nairobi(millis: number): TimeParts {
  const [date = "", time = ""] = new Date(millis + OFFSET_MILLIS).toISOString().split("T");
  const [year = "", month = "", day = ""] = date.split("-");
  const [hour = "", minute = "", second = ""] = time.slice(0, 8).split(":");
  return { year, month, day, hour, minute, second };
}

/** YYYYMMDDHHmmss, as in an STK push and its callback. */
export function stamp(millis: number): string {
  const { year, month, day, hour, minute, second } = nairobi(millis);
  return `${year}${month}${day}${hour}${minute}${second}`;
}

/** Whether the text is a time that exists, as YYYYMMDDHHmmss. */
export function isStamp(text: string): boolean {
  const spaced = text.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, "$1-$2-$3 $4:$5:$6");
  const millis = parsedDate(spaced);
  return millis !== undefined && stamp(millis) === text;
}

/** Reads "YYYY-MM-DD HH:mm:ss", as in a pull of transactions; undefined for another text. */
export function parsedDate(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d \d{1,2}:\d\d:\d\d$/.test(text)) return undefined;
  const millis = Date.parse(`${text.replace(/ (\d):/, " 0$1:").replace(" ", "T")}Z`);
  return Number.isNaN(millis) ? undefined : millis - OFFSET_MILLIS;
}
