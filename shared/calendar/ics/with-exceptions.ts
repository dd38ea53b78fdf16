import { type EventRow, originalOf } from '#shared/calendar/event.ts'
import type { WrittenOut } from '#shared/calendar/ics/write-event.ts'

/** An event as a guest's file has it: a series leaves its deleted occurrences out, and its changed ones stand behind it. */
export function withExceptions(out: WrittenOut, exceptions: readonly EventRow[]): WrittenOut[] {
  const removed = exceptions.filter(({ is_removed }) => is_removed).flatMap((one) => originalOf(one) ?? [])
  const kept = exceptions.filter(({ is_removed }) => !is_removed)
  return [{ ...out, removed }, ...kept.map((event) => ({ ...out, event, series: out.event }))]
}
