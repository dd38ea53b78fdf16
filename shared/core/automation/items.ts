import { automationLimits } from '#shared/core/automation/limits.ts'
import { hasReference, toBoundedText, toPlainJson } from '#shared/core/automation/template.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { parseStoredJson } from '#shared/platform/kernel/values/json.ts'

/** Items of a rendered `list` setting: a list or the text of a JSON array; blank is empty. Throws VALIDATION_ERROR for any other value. */
export function readListItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  if (value === undefined || value === null || value === '') return []
  if (typeof value === 'string' && value.length > automationLimits.listCharacters)
    throw problem(
      'VALIDATION_ERROR',
      `list may have at most ${automationLimits.listCharacters} characters as text; refer to a list instead`,
    )
  const items = typeof value === 'string' ? parseArray(value) : undefined
  if (!items) throw problem('VALIDATION_ERROR', `list must be a list, got ${toBoundedText(value).slice(0, 100)}`)
  return items
}

function parseArray(text: string): readonly unknown[] | undefined {
  try {
    const value = toPlainJson(parseStoredJson(text))
    return Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Problems of an unrendered `list` setting: a text without a reference must be a JSON array. */
export const listProblems = (list: unknown): string[] =>
  typeof list !== 'string' || list.trim() === '' || hasReference(list) || parseArray(list)
    ? []
    : ['list must be a reference to a list, or a JSON array']
