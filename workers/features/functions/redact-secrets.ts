import { jsonNumberText } from '#shared/platform/kernel/values/json.ts'

/** The text that replaces a secret in output. */
const mark = '[secret]'

/** Collects the secrets that a run has read. */
export interface SecretRedactor {
  readonly conceal: (secret: string) => void
  /** Each secret as plain text and escaped as JSON up to three levels deep, longest first. */
  readonly forms: () => readonly string[]
}

/** Creates a redactor without secrets. */
export function createSecretRedactor(): SecretRedactor {
  const secrets = new Set<string>()
  const forms = (): readonly string[] => {
    const levels = [[...secrets]]
    while (levels.length <= 3) levels.push((levels.at(-1) ?? []).map(escapeJson))
    return [...new Set(levels.flat())].sort((one, other) => other.length - one.length)
  }
  return { conceal: (secret) => void secrets.add(secret), forms }
}

/** Queues work on a text of `characters` length, since it may take long. */
export type RunQueued = <Result>(characters: number, work: () => Result) => Promise<Result>

/**
 * Replaces every form of a secret in the texts, keys and numbers of `value`; `json` is the value as JSON text. The forms are searched for
 * one at a time: a regular expression of a hundred forms can take a minute of the worker's thread for 256 KB of text that nearly matches
 * each form at every position. Since most runs return no secret, `json` is searched first.
 */
export async function redactKnownSecrets<T>(value: T, json: string, forms: readonly string[], inQueue: RunQueued): Promise<T> {
  let clean: unknown = value
  for (const form of forms) {
    const isPresent = await inQueue(json.length, () => json.includes(escapeJson(form)))
    if (isPresent) clean = await inQueue(json.length, () => replaceTexts(clean, (text) => text.replaceAll(form, placeholder)))
  }
  // Placeholders become marks last, so that a secret that is part of the mark's text does not match in inserted marks.
  return (
    clean === value ? value : await inQueue(json.length, () => replaceTexts(clean, (text) => text.replaceAll(placeholder, mark)))
  ) as T
}

/** Stands for the mark during replacement; no text of a run contains this character. */
const placeholder = '\0'

/** Replaces the beginning of a secret's form at the end of a truncated text by the mark. */
export function cutPartialSecret(text: string, forms: readonly string[]): string {
  const longest = Math.max(0, ...forms.map((form) => overlap(text, form)))
  return longest === 0 ? text : text.slice(0, -longest) + mark
}

/** Length of the longest suffix of the text that is a proper prefix of the form (Knuth, Morris and Pratt). */
function overlap(text: string, form: string): number {
  const joined = form + placeholder + text.slice(1 - form.length)
  const borders = [0]
  for (let at = 1; at < joined.length; at++) {
    let length = borders[at - 1] ?? 0
    while (length > 0 && joined[at] !== joined[length]) length = borders[length - 1] ?? 0
    borders.push(joined[at] === joined[length] ? length + 1 : 0)
  }
  return form.length === 1 ? 0 : (borders.at(-1) ?? 0)
}

const escapeJson = (text: string): string => JSON.stringify(text).slice(1, -1)

function replaceTexts(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value)
  const number = jsonNumberText(value)
  if (number !== undefined) return replace(number) === number ? value : placeholder
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => replaceTexts(item, replace))
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [replace(key), replaceTexts(part, replace)]))
}
