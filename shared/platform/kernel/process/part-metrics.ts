import type { Registry } from 'prom-client'
import { addGauge } from '#shared/platform/kernel/metrics.ts'
import type { Parts } from '#shared/platform/kernel/process/part.ts'

const gauges = { database: 'kontor_database_up', fileStore: 'kontor_file_store_up', mailServer: 'kontor_mail_server_up' } as const

interface WatchedParts {
  readonly parts: Parts
  /** Notes whether the file store is there, which a process that uses no files would not notice. */
  readonly checkStore: () => Promise<unknown>
}

/**
 * Registers a gauge for each part that the process uses: 1 while it reaches the part, 0 while that is away. The returned function adds the
 * parts of a process and returns a function that removes them.
 */
export function registerPartGauges(registry: Registry): (parts: Parts, checkStore: WatchedParts['checkStore']) => () => void {
  const watched = new Set<WatchedParts>()
  for (const [key, name] of Object.entries(gauges) as [keyof Parts, string][]) {
    const help = 'Whether the process reaches this part: 1, or 0 while it is away'
    addGauge(registry, name, help, [], async () => {
      if (key === 'fileStore') await Promise.all([...watched].map(({ checkStore }) => checkStore()))
      const used = [...watched].map(({ parts }) => parts[key]).filter(({ isUsed }) => isUsed)
      return used.length === 0 ? [] : [{ labels: {}, value: used.every(({ isUp }) => isUp) ? 1 : 0 }]
    })
  }
  return (parts, checkStore) => {
    const added = { parts, checkStore }
    watched.add(added)
    return () => void watched.delete(added)
  }
}
