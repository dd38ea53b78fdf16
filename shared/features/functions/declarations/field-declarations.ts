import type { Field } from '#shared/core/types/fields/field.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** TypeScript types of a field's values: the type read, and further types accepted as input. */
interface Shape {
  readonly read: (options: string) => string
  readonly alsoSent?: string
}

const text: Shape = { read: () => 'string' }
const texts: Shape = { read: () => 'string[]' }

const shapes: Readonly<Record<FieldType, Shape>> = {
  string: text,
  text,
  email: text,
  url: text,
  date: text,
  datetime: text,
  file: text,
  ref: text,
  refs: texts,
  number: { read: () => 'number', alsoSent: 'string' },
  currency: { read: () => 'Money', alsoSent: '{ amount: number | string; code?: string } | number | string' },
  bool: { read: () => 'boolean', alsoSent: "'true' | 'false'" },
  select: { read: (options) => options },
  multiselect: { read: (options) => `(${options})[]` },
}

/** TypeScript type of a field's value in the answer of records.get. */
export const readTypeOf = (field: Field): string => `${shapes[field.type].read(optionsOf(field))} | null`

/** TypeScript type of a field's input; undefined for a formula field. */
export function inputTypeOf(field: Field): string | undefined {
  if (field.rules.formula !== undefined) return undefined
  const { alsoSent } = shapes[field.type]
  return alsoSent === undefined ? readTypeOf(field) : `${readTypeOf(field)} | ${alsoSent}`
}

const optionsOf = ({ rules }: Field): string => (rules.options ?? []).map((option) => JSON.stringify(option)).join(' | ') || 'string'
