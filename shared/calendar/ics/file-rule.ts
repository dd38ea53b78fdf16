import { readRule } from '#shared/calendar/rule.ts'

/**
 * The rule of a file, as it is kept. Files of other programs have blanks and small letters in it, `COUNT=-1` for a series without an end, and
 * parts that change nothing (`X-…`, RFC 7529's `RSCALE=GREGORIAN` and `SKIP=OMIT`). What is left out is added to `notes`. Throws
 * VALIDATION_ERROR that says what is wrong with the rest.
 */
export function readFileRule(text: string, notes: string[]): string {
  const parts = text
    .replaceAll(/\s/g, '')
    .replace(/^RRULE:/i, '')
    .split(';')
    .filter((part) => part !== '' && !/^(?:RSCALE=GREGORIAN|SKIP=OMIT)$/i.test(part))
  const kept = parts.filter((part) => !/^(?:X-.*|COUNT=(?:-\d+|0+))$/i.test(part))
  for (const part of parts) if (!kept.includes(part)) notes.push(`has ${part.slice(0, 60)} in its RRULE, which is left out`)
  return readRule(kept.join(';'))
}
