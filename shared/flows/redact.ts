/** Names of headers and fields under which others hand out what lets somebody in. */
const secretNames = /^(proxy-)?authorization$|cookie|token|secret|password|api[-_]?key/i

/** What stands in the place of such a value. */
export const redactedText = '[redacted]'

/**
 * What a step gave, as it is kept for those who look at its run: without texts, lists and objects whose name says that they are a secret,
 * however deep. Numbers stay, since those under such names count something: `total_tokens`.
 */
export function redact(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redact)
  if (!hasParts(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, redactItem(name, item)]))
}

const redactItem = (name: string, item: unknown): unknown =>
  secretNames.test(name) && (typeof item === 'string' ? item !== '' : hasParts(item)) ? redactedText : redact(item)

const hasParts = (value: unknown): value is object => typeof value === 'object' && value !== null && !JSON.isRawJSON(value)
