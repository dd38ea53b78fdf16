import { automationLimits } from '#shared/core/automation/limits.ts'
import { type Path, pathOf, reference, toBoundedText, tooLong } from '#shared/core/automation/template.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { hasParts } from '#shared/platform/kernel/values/json-walk.ts'

/** Resolves a path; undefined when it leads nowhere. */
export type Lookup = (path: Path) => unknown

/**
 * Replaces the references in a value in one pass: inserted values are not scanned for references. A text that consists of one reference
 * becomes the value with its type; in any other text the value is inserted as text. A reference that leads nowhere is empty text. Throws
 * VALIDATION_ERROR when the values inserted into texts exceed 1 MB together, so that rendering takes about 10 ms at most.
 */
export function renderTemplate(value: unknown, lookup: Lookup, budget: ComputeBudget): unknown {
  let insertedCharacters = 0
  const insert = (found: unknown): string => {
    const text = toBoundedText(found)
    insertedCharacters += text.length
    if (insertedCharacters > automationLimits.renderedCharacters) throw tooLong()
    return text
  }
  const renderText = (text: string): unknown => {
    budget.takeSteps(text.length >> 9)
    const [whole] = text.matchAll(reference)
    if (!whole) return text
    budget.takeSteps(1)
    if (whole[0].length === text.trim().length) {
      const path = pathOf(whole[1] ?? '')
      return path ? (lookup(path) ?? '') : text
    }
    const charactersBefore = insertedCharacters
    const rendered = text.replaceAll(reference, (braces, inside: string) => {
      budget.takeSteps(1)
      const path = pathOf(inside)
      return path ? insert(lookup(path)) : braces
    })
    budget.takeSteps((insertedCharacters - charactersBefore) >> 8)
    return rendered
  }
  const renderPart = (part: unknown): unknown => {
    if (typeof part === 'string') return renderText(part)
    if (Array.isArray(part)) return part.map(renderPart)
    if (!hasParts(part)) return part
    return Object.fromEntries(Object.entries(part).map(([key, item]) => [key, renderPart(item)]))
  }
  return renderPart(value)
}

/** Value at a path; follows own keys and list indexes only. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  let found = value
  for (const part of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    if (Array.isArray(found) && part === 'length') return undefined
    found = (found as Readonly<Record<string, unknown>>)[part]
  }
  return found
}
