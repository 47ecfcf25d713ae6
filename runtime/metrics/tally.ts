/** The labels of one series, in a fixed order of names. */
export type Labels = Readonly<Record<string, string>>;

/** One line of a metric, as prom-client writes it. */
export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** The name of the line if it is not that of the metric, such as `…_bucket`. */
  readonly metricName?: string;
}

/** One number that only grows. A caller keeps it, so counting costs one addition. */
export class Count {
  readonly labels: Labels;
  value = 0;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  samples(): readonly Sample[] {
    return [{ labels: this.labels, value: this.value }];
  }
}

/** Counts values in fixed buckets. */
export class Histogram {
  readonly #name: string;
  readonly #labels: Labels;
  readonly #bounds: readonly number[];
  /** The last one counts the values above all bounds. */
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, bounds: readonly number[], labels: Labels) {
    this.#name = name;
    this.#labels = labels;
    this.#bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && value > (bounds[bucket] ?? Infinity)) bucket += 1;
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#sum += value;
  }

  samples(): readonly Sample[] {
    let total = 0;
    const buckets = this.#counts.map((count, index) => {
      total += count;
      const le = index < this.#bounds.length ? String(this.#bounds[index]) : "+Inf";
      return { labels: { ...this.#labels, le }, value: total, metricName: `${this.#name}_bucket` };
    });
    return [
      ...buckets,
      { labels: this.#labels, value: this.#sum, metricName: `${this.#name}_sum` },
      { labels: this.#labels, value: total, metricName: `${this.#name}_count` },
    ];
  }
}

/** The series of one metric, by their labels. */
export class Family<Series extends { samples(): readonly Sample[] }> {
  readonly #make: (labels: Labels) => Series;
  readonly #series = new Map<string, Series>();

  constructor(make: (labels: Labels) => Series) {
    this.#make = make;
  }

  /** Returns the series with these labels. Makes it when it is new. */
  of(labels: Labels): Series {
    const key = Object.values(labels).join("\n");
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    const made = this.#make(labels);
    this.#series.set(key, made);
    return made;
  }

  samples(): readonly Sample[] {
    return [...this.#series.values()].flatMap((series) => series.samples());
  }
}
