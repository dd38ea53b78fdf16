import { problem } from '#shared/platform/kernel/errors.ts'

/** The stored version that a request's conditions are compared with. */
export interface ResourceVersion {
  /** A strong ETag with its quotation marks. */
  readonly etag: string
  /** Absent when unknown. */
  readonly changedAt?: Date
}

type Header = (name: string) => string

/**
 * Evaluates the conditions of a GET in the order of RFC 9110, 13.2.2. True when the client already has this version, which is answered
 * with 304. Throws PRECONDITION_FAILED when If-Match or If-Unmodified-Since names another version.
 */
export function isNotModified(header: Header, { etag, changedAt }: ResourceVersion): boolean {
  const [match, noneMatch] = [header('if-match'), header('if-none-match')]
  const changed = changedAt && Math.floor(changedAt.getTime() / 1_000) * 1_000
  if (match !== '') {
    if (!isMatched(match, etag)) throw failed('If-Match')
  } else if (changed !== undefined && changed > timeOf(header('if-unmodified-since'), Number.POSITIVE_INFINITY)) {
    throw failed('If-Unmodified-Since')
  }
  if (noneMatch !== '') return isKnown(noneMatch, etag)
  return changed !== undefined && changed <= timeOf(header('if-modified-since'), Number.NEGATIVE_INFINITY)
}

const failed = (name: string) => problem('PRECONDITION_FAILED', `${name} names another version than the one that is stored`)

/** Whether a list of validators contains this one by weak comparison, as for If-None-Match. */
const isKnown = (list: string, etag: string): boolean =>
  list.trim() === '*' || [...list.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, one]) => one === etag)

/** Whether a list of validators contains this one by strong comparison, as for If-Match: a weak validator matches nothing. */
const isMatched = (list: string, etag: string): boolean =>
  list.trim() === '*' || [...list.matchAll(/(W\/)?("[^"]*")/g)].some(([, weak, one]) => weak === undefined && one === etag)

const names = 'Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec'
const dateForms = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \\d{2} (?:${names}) \\d{4} \\d{2}:\\d{2}:\\d{2} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, \\d{2}-(?:${names})-\\d{2} \\d{2}:\\d{2}:\\d{2} GMT$`),
]
const asctime = new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:${names}) [ \\d]\\d \\d{2}:\\d{2}:\\d{2} \\d{4}$`)

/** An HTTP date (RFC 9110, 5.6.7) in milliseconds; `otherwise` for an invalid one, whose condition is ignored. */
function timeOf(header: string, otherwise: number): number {
  const text = header.trim()
  const time = asctime.test(text) ? Date.parse(`${text} GMT`) : dateForms.some((form) => form.test(text)) ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? otherwise : time
}
