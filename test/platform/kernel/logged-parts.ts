import type { Logger } from '#shared/platform/kernel/log.ts'
import { createParts } from '#shared/platform/kernel/process/part.ts'

/** Parts, and the lines that they log. */
export function partsWithLog() {
  const lines: Record<string, unknown>[] = []
  const note = (level: string) => (line: object, message: string) => lines.push({ level, message, ...line })
  return { parts: createParts({ error: note('error'), warn: note('warn') } as unknown as Logger), lines }
}
