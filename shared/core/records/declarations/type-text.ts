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

/** Escapes a label, which users write, so that it can neither end the comment nor be a directive of the type checker or a tag. */
const comment = (indent: string, label: string): string =>
  `${indent}/** ${label
    .replaceAll('*/', '* /')
    .replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')
    .replace(/(?<!\w)@(?=\w)/g, '@ ')} */\n`

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
export const sentProperty = (field: ReadableField): Property | undefined => inputOf(field, { optional: true, nullable: true })

/** A field's input in a creation. Null counts as not sent, so a field that must be sent takes none. */
export const createdProperty = (field: ReadableField): Property | undefined =>
  inputOf(field, { optional: !field.needed, nullable: !field.needed })

/** A field's input in a change. Null clears, so a required field takes none. */
export const changedProperty = (field: ReadableField): Property | undefined => inputOf(field, { optional: true, nullable: !field.required })

function inputOf(field: ReadableField, { optional, nullable }: { optional: boolean; nullable: boolean }): Property | undefined {
  const { read, alsoSent } = shapes[field.type]
  // Every object has a constructor, so an input that leaves out a field of that name has a function there.
  const inherited = field.key === 'constructor' && optional ? ['Function'] : []
  const types = [read(optionsOf(field)), ...(nullable ? ['null'] : []), ...(alsoSent === undefined ? [] : [alsoSent]), ...inherited]
  return field.computed ? undefined : { type: types.join(' | '), optional }
}

const optionsOf = ({ options }: ReadableField): string => options.map((option) => JSON.stringify(option)).join(' | ') || 'string'
