import type { Registry } from 'prom-client'
import { addGauge } from '#shared/platform/kernel/metrics.ts'
import type { Part, Parts } from '#shared/platform/kernel/process/part.ts'

const gauges = { database: 'kontor_database_up', fileStore: 'kontor_file_store_up', mailServer: 'kontor_mail_server_up' } as const

/**
 * Registers a gauge for each part: 1 while the process reaches it, 0 while it is away. The returned function adds the parts of a process and
 * returns a function that removes them.
 */
export function registerPartGauges(registry: Registry): (parts: Parts) => () => void {
  const watched = new Set<Parts>()
  for (const [key, name] of Object.entries(gauges) as [keyof Parts, string][]) {
    const ofKey = (): Part[] => [...watched].map((parts) => parts[key])
    const help = 'Whether the process reaches this part: 1, or 0 while it is away'
    addGauge(registry, name, help, [], async () => [{ labels: {}, value: ofKey().every(({ isUp }) => isUp) ? 1 : 0 }])
  }
  return (parts) => {
    watched.add(parts)
    return () => void watched.delete(parts)
  }
}
