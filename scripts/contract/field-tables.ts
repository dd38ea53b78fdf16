import { type BuiltinField, builtinDeclaration } from '#shared/core/types/builtin/builtin-types.ts'
import type { KindFilter } from '#shared/core/types/field-kinds/field-kind.ts'
import { fieldKinds } from '#shared/core/types/field-kinds/field-kinds.ts'
import { requiredRules } from '#shared/core/types/fields/rules.ts'
import { code, codeList, markdownTable, yesOrNo } from './markdown-table.ts'

const kinds = Object.values(fieldKinds)

/** What each field type can do. */
export const fieldKindTable = (): string =>
  markdownTable(
    ['Type', 'Searched by `q`', 'Sorted', 'Unique'],
    kinds.map(({ type, isText, sortable, canBeUnique }) => [code(type), ...[isText, sortable, canBeUnique].map(yesOrNo)]),
  )

/** The operators of each field type, the default first. */
export const operatorTable = (): string =>
  markdownTable(
    ['Type', 'Operators'],
    kinds.map(({ type, filter }) => [code(type), codeList(operatorsOf(filter))]),
  )

const operatorsOf = ({ operators, defaultOperator }: KindFilter): readonly string[] =>
  defaultOperator === null ? operators : [defaultOperator, ...operators.filter((operator) => operator !== defaultOperator)]

/** The rules of each field type. */
export const ruleTable = (): string =>
  markdownTable(
    ['Type', 'Rules besides `default` and `formula`'],
    kinds.map(({ type, ruleKeys }) => [
      code(type),
      ruleKeys.map((key) => code(key) + (requiredRules.some((required) => required === key) ? ' (required)' : '')).join(', ') || 'none',
    ]),
  )

/** The built-in types with their fields. */
export const builtinTypeTable = (): string =>
  markdownTable(
    ['Type', 'Field', 'Label', 'Field type', 'Rules'],
    builtinDeclaration.types.flatMap(({ key, fields }) =>
      fields.map((field) => [code(key), code(field.key), field.label, code(field.type), propertiesOf(field)]),
    ),
  )

function propertiesOf({ required, unique, autogen, rules = {} }: BuiltinField): string {
  const properties = [
    ...(required ? ['required'] : []),
    ...(unique ? ['unique'] : []),
    ...(autogen ? [`auto-number ${code(autogen)}`] : []),
    ...Object.entries(rules).map(([key, rule]) => `${code(key)} ${codeList([rule].flat().map(String))}`),
  ]
  return properties.join('; ')
}
