import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** What stands where a secret stood. */
const mark = '[secret]'

/** The secrets that a run has read. */
export interface SecretRedactor {
  readonly conceal: (secret: string) => void
  /** Each secret as it reads, and as it stands in JSON, in JSON within JSON, and once more within that; the longest first. */
  readonly forms: () => readonly string[]
}

/** A redactor that knows no secret yet. */
export function createSecretRedactor(): SecretRedactor {
  const secrets = new Set<string>()
  const forms = (): readonly string[] => {
    const levels = [[...secrets]]
    while (levels.length <= 3) levels.push((levels.at(-1) ?? []).map(quoted))
    return [...new Set(levels.flat())].sort((one, other) => other.length - one.length)
  }
  return { conceal: (secret) => void secrets.add(secret), forms }
}

/** Does work on so many characters when its turn has come. */
export type RunQueued = <Result>(characters: number, work: () => Result) => Promise<Result>

/**
 * A JSON value, whose text is `json`, in which the mark stands wherever a text or a key held one of the forms, or a number read like one.
 * Each form is looked for by itself: one expression of a hundred forms can take a minute of the worker's thread for 256 KB of text that
 * nearly holds each of them at every place. Most runs give back none of those that they read.
 */
export async function redactKnownSecrets<T>(value: T, json: string, forms: readonly string[], inTurn: RunQueued): Promise<T> {
  let clean: unknown = value
  for (const form of forms) {
    const isThere = await inTurn(json.length, () => json.includes(quoted(form)))
    if (isThere) clean = await inTurn(json.length, () => replaced(clean, (text) => text.replaceAll(form, hole)))
  }
  // A form that is a part of the mark must not be found in it.
  return (clean === value ? value : await inTurn(json.length, () => replaced(clean, (text) => text.replaceAll(hole, mark)))) as T
}

/** Stands where the mark will stand. No text of a run holds it. */
const hole = '\0'

/** Text that was cut, without what is left of a form at its end. */
export function cutPartialSecret(text: string, forms: readonly string[]): string {
  const longest = Math.max(0, ...forms.map((form) => overlap(text, form)))
  return longest === 0 ? text : text.slice(0, -longest) + mark
}

/** The length of the longest end of the text with which the form begins, short of the form itself (Knuth, Morris and Pratt). */
function overlap(text: string, form: string): number {
  const joined = form + hole + text.slice(1 - form.length)
  const borders = [0]
  for (let at = 1; at < joined.length; at++) {
    let length = borders[at - 1] ?? 0
    while (length > 0 && joined[at] !== joined[length]) length = borders[length - 1] ?? 0
    borders.push(joined[at] === joined[length] ? length + 1 : 0)
  }
  return form.length === 1 ? 0 : (borders.at(-1) ?? 0)
}

const quoted = (text: string): string => JSON.stringify(text).slice(1, -1)

function replaced(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  const number = jsonNumberText(value)
  if (number !== undefined) return replace(number) === number ? value : hole
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => replaced(item, replace))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [replace(key), replaced(part, replace)]))
}
