import { Gauge, type Metric, type Registry } from 'prom-client'

/** Reads rows of the whole installation. Returns no rows in a process that does not report them, and when the query fails. */
export type MetricQuery<Db> = <Row>(read: (db: Db) => Promise<readonly Row[]>, what: string) => Promise<readonly Row[]>

/** The metrics that one folder of the code declares. */
export interface Metrics<Db> {
  /** Counters and histograms of one process, made with `registers: []`. API and worker processes add them to their own registry. */
  readonly counters?: readonly Metric[]
  /** Counters and histograms of work that only workers do; only worker processes add them to their registry. */
  readonly workerCounters?: readonly Metric[]
  /** Adds gauges over all workspaces. One process of an installation reads them, so a sum over processes counts each row once. */
  readonly addGauges?: (registry: Registry, query: MetricQuery<Db>) => void
}

interface GaugeRow {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** Adds a gauge whose values are read at each scrape. Labels without a row disappear, and so does a gauge without rows. */
export function addGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: readonly string[],
  read: () => Promise<GaugeRow[]>,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    async collect() {
      const rows = await read()
      this.reset()
      // A reset sets a gauge without labels to 0, which would be a value.
      if (rows.length === 0 && labelNames.length === 0) this.remove()
      for (const { labels, value } of rows) this.set(labels, value)
    },
  })
}

/**
 * Milliseconds for which the text of a registry is kept. Collecting the 150 KB of an API takes 20 ms of its thread, and anybody may ask for
 * them where no METRICS_TOKEN is set; in a worker it takes statements.
 */
const keptMs = 1_000

const kept = new WeakMap<Registry, Promise<string>>()

/** The text of a registry's metrics, at most a second old. It is collected once at a time; a failure is not kept. */
export function readMetrics(registry: Registry): Promise<string> {
  const known = kept.get(registry)
  if (known) return known
  const text = registry.metrics()
  kept.set(registry, text)
  const drop = () => kept.delete(registry)
  text.then(() => setTimeout(drop, keptMs).unref(), drop)
  return text
}
