import { isCleanText } from '#shared/kernel/json.ts'

/** The longest path of content, in bytes of UTF-8. */
export const maxPathBytes = 1_024

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what no path holds
const odd = /[\\/\u0000-\u001f\u007f-\u009f]/

/**
 * The path that an address names, from the percent-encoded rest of it behind the website: without one, and behind a slash, it is `index`.
 * Every way to write a path comes to one text or to none: undefined for empty segments, `.` and `..`, encoded slashes, backslashes, control
 * characters, and what is no UTF-8 or too long.
 */
export function normalPath(encoded: string): string | undefined {
  const segments = encoded.replace(/^\//, '').split('/').map(decoded)
  if (segments.at(-1) === '') segments[segments.length - 1] = 'index'
  const isOdd = segments.some(
    (segment) => segment === undefined || ['', '.', '..'].includes(segment) || odd.test(segment) || !isCleanText(segment),
  )
  const path = segments.join('/')
  return isOdd || Buffer.byteLength(path) > maxPathBytes ? undefined : path
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch {
    return undefined
  }
}
