import { isCleanText } from '#shared/platform/kernel/values/json.ts'

/** The maximum length of a content path, in bytes of UTF-8. */
export const maxPathBytes = 1_024

// biome-ignore lint/suspicious/noControlCharactersInRegex: no path contains them
const forbidden = /[\\/\u0000-\u001f\u007f-\u009f]/

/**
 * The normalized path in the percent-encoded rest of an address after the website. An empty rest, and one that ends with a slash, means
 * `index`. Undefined for empty segments, `.` and `..`, encoded slashes, backslashes, control characters, invalid UTF-8 and paths that are
 * too long, so that every path has one form.
 */
export function normalizeContentPath(encoded: string): string | undefined {
  const segments = encoded.replace(/^\//, '').split('/').map(decodeSegment)
  if (segments.at(-1) === '') segments[segments.length - 1] = 'index'
  const isInvalid = segments.some(
    (segment) => segment === undefined || ['', '.', '..'].includes(segment) || forbidden.test(segment) || !isCleanText(segment),
  )
  const path = segments.join('/')
  return isInvalid || Buffer.byteLength(path) > maxPathBytes ? undefined : path
}

function decodeSegment(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
