import { emptyValues, type Values } from '#shared/core/records/record.ts'
import { isBlank, parseValue, valueToJson } from '#shared/core/types/field-kinds/value.ts'
import type { TypedRules } from '#shared/core/types/fields/field.ts'
import type { Form, FormField } from '#shared/features/forms/schemas.ts'
import { Problem, problem } from '#shared/platform/kernel/errors.ts'
import type { FieldValue } from '#shared/platform/kernel/field-type.ts'

/** The valid answers of a visitor, and the problems of the others, by field key. */
interface Answers {
  /** As record values in JSON. */
  readonly values: Readonly<Record<string, unknown>>
  readonly problems: ReadonlyMap<string, Problem>
}

const fieldShape = ({ type, options }: FormField): TypedRules => ({ type, rules: options ? { options } : {} })

/** Only white space and characters that show nothing: controls, ignorable ones such as zero-width marks and fillers, and the Braille blank. */
const invisible = /^[\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]*$/u

const isMissing = (value: FieldValue): boolean => isBlank(value) || (typeof value === 'string' && invisible.test(value))

/**
 * Reads the values sent for a form's fields; empty text counts as not sent (docs/contract/public.md#submitting), and a required text of
 * blanks alone is missing. Problems name fields of the form, such as `values.email`, never fields of its record type. A key that is not a
 * field's is a problem too.
 */
export function readAnswers({ fields }: Pick<Form, 'fields'>, sent: Readonly<Record<string, unknown>>, defaultCurrency: string): Answers {
  const values = emptyValues() as Record<string, unknown>
  const problems = new Map<string, Problem>()
  for (const field of fields) {
    const path = `values.${field.key}`
    try {
      const answer = Object.hasOwn(sent, field.key) ? sent[field.key] : null
      const value = parseValue(answer === '' ? null : answer, fieldShape(field), { path, defaultCurrency })
      if (field.required && isMissing(value)) throw problem('VALIDATION_ERROR', `${path} is required`)
      if (!isBlank(value)) values[field.key] = valueToJson(value, fieldShape(field))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      problems.set(field.key, error)
    }
  }
  const keys = new Set(fields.map(({ key }) => key))
  // One is enough: a body may name tens of thousands.
  const unknown = Object.keys(sent).find((key) => !keys.has(key))
  if (unknown !== undefined) problems.set(unknown, problem('VALIDATION_ERROR', `values.${unknown} names no field of this form`))
  return { values, problems }
}

/** Reads the values and throws the first problem, if there is one. */
export function requireAnswers(form: Pick<Form, 'fields'>, sent: Readonly<Record<string, unknown>>, defaultCurrency: string): Values {
  const { values, problems } = readAnswers(form, sent, defaultCurrency)
  for (const firstProblem of problems.values()) throw firstProblem
  return values as Values
}
