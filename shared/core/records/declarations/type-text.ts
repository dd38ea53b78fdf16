import type { ReadableField, ReadableType } from '#shared/core/records/declarations/schemas.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/** A property of a declared type: its TypeScript type, and whether it may be left out. */
export interface Property {
  readonly type: string
  readonly optional: boolean
}

/** An interface that maps the key of each record type to its fields. `describe` returns undefined for a field that it leaves out. */
export function typesText(name: string, types: readonly ReadableType[], describe: (field: ReadableField) => Property | undefined): string {
  const lines = types.map((type) => {
    const properties = type.fields.map((field) => propertyText(field, describe(field)))
    return `${comment('  ', type.label)}  ${nameText(type.key)}: {\n${properties.join('')}  }\n`
  })
  return `interface ${name} {\n${lines.join('')}}\n`
}

const propertyText = ({ key, label }: ReadableField, property: Property | undefined): string =>
  property === undefined ? '' : `${comment('    ', label)}    ${nameText(key)}${property.optional ? '?' : ''}: ${property.type}\n`

/** The name of a property; in quotes unless it is an identifier. */
const nameText = (key: string): string => (/^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key))

/** Escapes a label, which users write, so that it cannot end the comment. */
const comment = (indent: string, label: string): string =>
  `${indent}/** ${label.replaceAll('*/', '* /').replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')} */\n`

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

/** A field's value in the answer of records.get. */
export const readProperty = (field: ReadableField): Property => ({
  type: `${shapes[field.type].read(optionsOf(field))} | null`,
  optional: field.sometimes_hidden,
})

/** A field's input, which may be left out; undefined for a computed field. */
export function sentProperty(field: ReadableField): Property | undefined {
  if (field.computed) return undefined
  const { alsoSent } = shapes[field.type]
  const read = readProperty(field).type
  return { type: alsoSent === undefined ? read : `${read} | ${alsoSent}`, optional: true }
}

const optionsOf = ({ options }: ReadableField): string => options.map((option) => JSON.stringify(option)).join(' | ') || 'string'
