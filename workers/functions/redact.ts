import { numberText } from '#shared/kernel/json.ts'

/** What stands where a secret stood. */
const mark = '[secret]'

/** Takes secrets out of what a run gives back. */
export interface Redactor {
  readonly conceal: (secret: string) => void
  /** A JSON value in which the mark stands wherever a text or a key held a secret, or a number read like one. */
  readonly redact: <T>(value: T) => T
}

/** A redactor that knows no secret yet. */
export function redactor(): Redactor {
  const secrets = new Set<string>()

  const cleanText = (text: string): string => {
    let clean = text
    // The longest first: a secret may be a part of another.
    for (const secret of [...secrets].sort((one, other) => other.length - one.length)) clean = clean.replaceAll(secret, mark)
    return clean
  }
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string') return cleanText(value)
    const number = numberText(value)
    if (number !== undefined) return cleanText(number) === number ? value : mark
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(clean)
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [cleanText(key), clean(part)]))
  }

  return {
    conceal: (secret) => {
      secrets.add(secret)
      // As it stands in an object that is printed.
      secrets.add(JSON.stringify(secret).slice(1, -1))
    },
    redact: <T>(value: T): T => (secrets.size === 0 ? value : (clean(value) as T)),
  }
}
