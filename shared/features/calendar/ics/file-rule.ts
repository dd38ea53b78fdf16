import { readRule } from '#shared/features/calendar/series/rule.ts'

/**
 * Reads a file's RRULE into the stored form. Other programs write blanks, lowercase letters, `COUNT=-1` for a series without an end, and
 * parts without effect (`X-…`, RFC 7529's `RSCALE=GREGORIAN` and `SKIP=OMIT`). Omitted `X-` and COUNT parts are added to `notes`. Throws
 * VALIDATION_ERROR for any other fault of the rule.
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
