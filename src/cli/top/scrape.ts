/** One value of the text format of Prometheus, with the labels of its series. */
interface ScrapedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

type ScrapedLabels = Readonly<Record<string, string>>;

const SAMPLE = /^([a-z_0-9]+)(?:\{(.*)\})? ([-+0-9.eInfNa]+)$/;
// The programs serve names only, and none has a quote or a backslash.
const LABEL = /([a-z_0-9]+)="([^"]*)"/g;

/** The metrics of a program at one moment. */
export class Scrape {
  readonly atMillis: number;
  readonly #samples = new Map<string, ScrapedSample[]>();

  constructor(text: string, atMillis: number) {
    this.atMillis = atMillis;
    for (const line of text.split("\n")) {
      const [, name, labels = "", value] = SAMPLE.exec(line) ?? [];
      if (name === undefined || value === undefined) continue;
      const pairs = Array.from(labels.matchAll(LABEL), ([, key = "", text_ = ""]) => [key, text_] as const);
      const sample = { name, labels: Object.fromEntries(pairs), value: value === "+Inf" ? Infinity : Number(value) };
      const known = this.#samples.get(name);
      if (known === undefined) this.#samples.set(name, [sample]);
      else known.push(sample);
    }
  }

  /** Returns the sum of the series with these labels. Undefined if there is none. */
  sum(name: string, labels: ScrapedLabels = {}): number | undefined {
    const found = this.#with(name, labels);
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }

  /** Returns the largest of the series with these labels. Undefined if there is none. */
  max(name: string, labels: ScrapedLabels = {}): number | undefined {
    const found = this.#with(name, labels);
    return found.length === 0 ? undefined : Math.max(...found.map(({ value }) => value));
  }

  /** Returns the smallest of the series with these labels. Undefined if there is none. */
  min(name: string, labels: ScrapedLabels = {}): number | undefined {
    const found = this.#with(name, labels);
    return found.length === 0 ? undefined : Math.min(...found.map(({ value }) => value));
  }

  /** Returns the values that a label has, in the order of the text. */
  values(name: string, label: string): readonly string[] {
    return [...new Set(this.#with(name, {}).map(({ labels }) => labels[label] ?? ""))];
  }

  #with(name: string, labels: ScrapedLabels): readonly ScrapedSample[] {
    const wanted = Object.entries(labels);
    return (this.#samples.get(name) ?? []).filter((sample) =>
      wanted.every(([key, text]) => sample.labels[key] === text),
    );
  }
}

/** Two scrapes of one program, the older one first. */
export class Between {
  readonly #before: Scrape;
  readonly #after: Scrape;

  constructor(before: Scrape, after: Scrape) {
    this.#before = before;
    this.#after = after;
  }

  /**
   * Returns how much a counter has grown, a second. A program that has restarted counts from zero.
   */
  perSecond(name: string, labels: ScrapedLabels = {}): number {
    return this.#growth(name, labels) / Math.max(0.001, (this.#after.atMillis - this.#before.atMillis) / 1_000);
  }

  /** Returns the mean of what a histogram has observed. Undefined if it has observed nothing. */
  mean(name: string, labels: ScrapedLabels = {}): number | undefined {
    const count = this.#growth(`${name}_count`, labels);
    return count === 0 ? undefined : this.#growth(`${name}_sum`, labels) / count;
  }

  /**
   * Returns the bound of the bucket in which this share of the observations ends. Undefined if
   * there was none.
   */
  quantile(name: string, share: number, labels: ScrapedLabels = {}): number | undefined {
    const all = this.#growth(`${name}_count`, labels);
    if (all === 0) return undefined;
    const bucket = `${name}_bucket`;
    const ends = this.#after.values(bucket, "le");
    const end = ends.find((le) => this.#growth(bucket, { ...labels, le }) >= all * share);
    if (end === undefined) return undefined;
    return end === "+Inf" ? Infinity : Number(end);
  }

  #growth(name: string, labels: ScrapedLabels): number {
    const [before, after] = [this.#before.sum(name, labels) ?? 0, this.#after.sum(name, labels) ?? 0];
    return after < before ? after : after - before;
  }
}
