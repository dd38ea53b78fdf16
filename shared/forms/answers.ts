import type { Form, FormField } from '#shared/forms/form.ts'
import { Problem, problem } from '#shared/kernel/errors.ts'
import { noValues, type Values } from '#shared/records/record.ts'
import type { FieldShape } from '#shared/types/fields/field.ts'
import { isBlank, parseValue, valueToJson } from '#shared/types/fields/value.ts'

/** What a visitor filled in, as far as it is right, and what is wrong with the rest, by the key of its field. */
export interface Answers {
  /** In the form in which records take them. */
  readonly values: Readonly<Record<string, unknown>>
  readonly problems: ReadonlyMap<string, Problem>
}

/** Of a visitor's text, this much is shown in a refusal of it. */
const shape = ({ type, options }: FormField): FieldShape => ({ type, rules: options ? { options } : {} })

/**
 * Reads what was sent for a form's fields; text that is empty counts as not sent (decisions, Forms). Problems name the form's own fields,
 * `values.email`, and never where they lead. A key that is no field's is a problem too.
 */
export function readAnswers({ fields }: Pick<Form, 'fields'>, sent: Readonly<Record<string, unknown>>, defaultCurrency: string): Answers {
  const values = noValues() as Record<string, unknown>
  const problems = new Map<string, Problem>()
  for (const field of fields) {
    const path = `values.${field.key}`
    try {
      const given = Object.hasOwn(sent, field.key) ? sent[field.key] : null
      const value = parseValue(given === '' ? null : given, shape(field), { path, defaultCurrency })
      if (field.required && isBlank(value)) throw problem('VALIDATION_ERROR', `${path} is required`)
      if (!isBlank(value)) values[field.key] = valueToJson(value, shape(field))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      problems.set(field.key, error)
    }
  }
  for (const key of Object.keys(sent)) {
    const isField = fields.some((field) => field.key === key)
    if (!isField) problems.set(key, problem('VALIDATION_ERROR', `values.${key} names no field of this form`))
  }
  return { values, problems }
}

/** The values alone; throws the first problem. */
export function requireAnswers(form: Pick<Form, 'fields'>, sent: Readonly<Record<string, unknown>>, defaultCurrency: string): Values {
  const { values, problems } = readAnswers(form, sent, defaultCurrency)
  for (const wrong of problems.values()) throw wrong
  return values as Values
}
