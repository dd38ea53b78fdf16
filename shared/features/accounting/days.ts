import { problem } from '#shared/platform/kernel/errors.ts'
import { isDay } from '#shared/platform/kernel/time/instant.ts'
import { dayMs } from '#shared/platform/kernel/time/units.ts'

/** Returns a day, YYYY-MM-DD. Throws VALIDATION_ERROR naming `path` for any other text. */
export function requireDay(text: string, path: string): string {
  if (!isDay(text)) throw problem('VALIDATION_ERROR', `${path} must be a day as YYYY-MM-DD, got ${text.slice(0, 20)}`)
  return text
}

/** Throws VALIDATION_ERROR when the first day is after the last. */
export function requireDayOrder(from: string | undefined, to: string | undefined): void {
  if (from !== undefined && to !== undefined && from > to)
    throw problem('VALIDATION_ERROR', `from must not be after to, got ${from} and ${to}`)
}

/** The previous day, YYYY-MM-DD; undefined when it is outside the supported days. */
export function dayBefore(day: string): string | undefined {
  const before = daysBefore(day, 1)
  return isDay(before) ? before : undefined
}

/** The day `count` days earlier, YYYY-MM-DD. */
export const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - count * dayMs).toISOString().slice(0, 10)

/** The last `count` months up to and including the month of a day, YYYY-MM, oldest first. */
export function monthsUpTo(day: string, count: number): string[] {
  const [year = 0, month = 0] = day.split('-').map(Number)
  const last = year * 12 + month - 1
  return Array.from({ length: count }, (_, index) => last - count + 1 + index)
    .filter((monthNumber) => monthNumber >= 12)
    .map((monthNumber) => `${String(Math.floor(monthNumber / 12)).padStart(4, '0')}-${String((monthNumber % 12) + 1).padStart(2, '0')}`)
}
