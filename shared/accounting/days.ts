import { problem } from '#shared/kernel/errors.ts'
import { isDay } from '#shared/kernel/instant.ts'

/** A day as YYYY-MM-DD; throws VALIDATION_ERROR that names `path` for any other text. */
export function requireDay(text: string, path: string): string {
  if (!isDay(text)) throw problem('VALIDATION_ERROR', `${path} must be a day as YYYY-MM-DD, got ${text.slice(0, 20)}`)
  return text
}

/** The day before, YYYY-MM-DD; undefined before the first day that there is. */
export function dayBefore(day: string): string | undefined {
  const before = daysBefore(day, 1)
  return isDay(before) ? before : undefined
}

/** The day so many days earlier. */
export const daysBefore = (day: string, count: number): string =>
  new Date(Date.parse(`${day}T00:00:00Z`) - count * 86_400_000).toISOString().slice(0, 10)

/** The months, YYYY-MM, that end with the month of a day, oldest first. */
export function monthsUpTo(day: string, count: number): string[] {
  const [year = 0, month = 0] = day.split('-').map(Number)
  const last = year * 12 + month - 1
  return Array.from({ length: count }, (_, index) => last - count + 1 + index)
    .filter((number) => number >= 12)
    .map((number) => `${String(Math.floor(number / 12)).padStart(4, '0')}-${String((number % 12) + 1).padStart(2, '0')}`)
}
