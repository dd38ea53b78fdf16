import { numberText } from '#shared/kernel/json.ts'

/** What stands where a secret stood. */
const mark = '[secret]'

/** The secrets that a run has read. */
export interface Redactor {
  readonly conceal: (secret: string) => void
  /** Each secret as it reads, and as it stands in JSON, in JSON within JSON, and once more within that; the longest first. */
  readonly forms: () => readonly string[]
}

/** A redactor that knows no secret yet. */
export function redactor(): Redactor {
  const secrets = new Set<string>()
  const forms = (): readonly string[] => {
    const levels = [[...secrets]]
    while (levels.length <= 3) levels.push((levels.at(-1) ?? []).map(quoted))
    return [...new Set(levels.flat())].sort((one, other) => other.length - one.length)
  }
  return { conceal: (secret) => void secrets.add(secret), forms }
}

/**
 * Whether JSON text holds a form. To look for it takes 1 ms for 1 MB; to ask every part of a value about every secret took 1 s. Most runs
 * give back none of those that they read.
 */
export const holds = (json: string, form: string): boolean => json.includes(quoted(form))

/** A JSON value in which the mark stands wherever a text or a key held one of the forms, or a number read like one. */
export const redact = <T>(value: T, forms: readonly string[]): T =>
  forms.length === 0 ? value : (clean(value, new RegExp(forms.map((form) => RegExp.escape(form)).join('|'), 'g')) as T)

/** The same for text that was cut: what is left of a form at its end goes too. */
export function redactCut(text: string, forms: readonly string[]): string {
  const whole = redact(text, forms)
  const lengths = forms.map((form) => {
    let length = form.length - 1
    while (length > 0 && !whole.endsWith(form.slice(0, length))) length -= 1
    return length
  })
  const longest = Math.max(0, ...lengths)
  return longest === 0 ? whole : whole.slice(0, -longest) + mark
}

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1)

function clean(value: unknown, secret: RegExp): unknown {
  if (typeof value === 'string') return value.replace(secret, mark)
  const number = numberText(value)
  if (number !== undefined) return number.search(secret) === -1 ? value : mark
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => clean(item, secret))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key.replace(secret, mark), clean(part, secret)]))
}
