import { fieldTypeKinds, jsonValueKind, type ValueKind, valueKinds } from '#shared/core/policy/conditions/value-kinds.ts'
import type { FieldType, FieldValue } from '#shared/platform/kernel/field-type.ts'

/** The caller as rules see it (docs/contract/access.md#conditions). `id` is null for the visitor. */
export interface PolicyPrincipal {
  readonly id: string | null
  readonly type: 'user' | 'service' | 'anonymous'
  /** Whether the caller owns the workspace; no rule restricts the owner. */
  readonly owner: boolean
}

/** A record as rules test it. Unknown values, such as the id of a record to be created, are null. */
export interface TestedRecord {
  readonly id: string | null
  readonly object_type: string
  /** Id of the creator; rules name it `resource.owner`. */
  readonly created_by: string | null
  /** RFC 3339. */
  readonly created_at: string | null
  readonly values: Readonly<Record<string, FieldValue | undefined>> | ReadonlyMap<string, FieldValue>
}

/** A field of a record type, as rules test and reveal it, with its column. */
export interface TestedField {
  readonly key: string
  readonly type: FieldType
  /** Column of the value; of a currency field, of its amount. */
  readonly column: string
  /** Keys of the fields that the formula of a computed field reads. */
  readonly reads?: readonly string[]
  /** Keys of the fields that former formulas of this field read, while some records still hold results of those formulas. */
  readonly staleReads?: readonly string[]
}

/** The value that a test reads: either known without a record, or a value of the record. */
type TestSubject =
  | { readonly known: true; readonly kind: ValueKind; readonly value: unknown }
  | {
      readonly known: false
      readonly kind: ValueKind
      readonly of: (record: TestedRecord) => unknown
      readonly column: string
      readonly nullable: boolean
    }
export type SubjectResolver = (tested: string) => TestSubject

/** Whether a condition may test a value of this name. Reserved field keys are not fields (docs/contract/access.md#conditions). */
export const isTestable = (tested: string): boolean => builtInTests.has(tested) || (fieldForm.test(tested) && !reservedNames.has(tested))

const fieldForm = /^resource\.[a-z][a-z0-9_]{1,63}$/
const reservedNames = new Set(['resource.created_by', 'resource.updated_at', 'resource.values'])

const knownSubject = (kind: ValueKind, value: unknown): TestSubject => ({ known: true, kind, value })
const missing = knownSubject(valueKinds.text, null)

const ofRecord: ReadonlyMap<string, TestSubject> = new Map<string, TestSubject>([
  ['resource.id', { known: false, kind: valueKinds.id, of: (record) => record.id, column: 'id', nullable: false }],
  ['resource.owner', { known: false, kind: valueKinds.id, of: (record) => record.created_by, column: 'created_by', nullable: true }],
  [
    'resource.created_at',
    { known: false, kind: valueKinds.instant, of: (record) => record.created_at, column: 'created_at', nullable: false },
  ],
])
/** Values that a condition may test and that are no fields. */
export const builtInTests: ReadonlySet<string> = new Set([...ofRecord.keys(), 'resource.object_type', 'principal.id', 'principal.type'])

const principalSubject = ({ id, type }: PolicyPrincipal, tested: string): TestSubject | undefined => {
  if (tested === 'principal.id') return knownSubject(valueKinds.id, id)
  return tested === 'principal.type' ? knownSubject(valueKinds.text, type) : undefined
}

/** Resolves the subjects of tests on the records of one type. An unknown field is a missing value. */
export function subjectsOfType(principal: PolicyPrincipal, typeKey: string, fields: readonly TestedField[]): SubjectResolver {
  const byName = new Map(fields.map((field) => [`resource.${field.key}`, ofField(field)]))
  return (tested) => {
    if (tested === 'resource.object_type') return knownSubject(valueKinds.text, typeKey)
    return principalSubject(principal, tested) ?? ofRecord.get(tested) ?? byName.get(tested) ?? missing
  }
}

const ofField = ({ key, type, column }: TestedField): TestSubject => ({
  known: false,
  kind: fieldTypeKinds[type],
  of: ({ values }) => {
    if (values instanceof Map) return values.get(key)
    return Object.hasOwn(values, key) ? (values as Readonly<Record<string, FieldValue>>)[key] : null
  },
  column,
  nullable: true,
})

/** Resolves the subjects of tests if only the caller is known: no value of a record is. */
export const subjectsOfAnyRecord =
  (principal: PolicyPrincipal): SubjectResolver =>
  (tested) =>
    principalSubject(principal, tested) ?? ofRecord.get(tested) ?? anyRecordValue
const anyRecordValue: TestSubject = { known: false, kind: valueKinds.text, of: () => null, column: '', nullable: true }

/** Attributes of a resource by name: `status`, `owner`, `created_at`, `id`, `object_type`, … A prefix `resource.` is allowed. */
export type Attributes = Readonly<Record<string, unknown>>

/** Resolves the subjects of tests on given attributes; `fields` give the types of known ones. */
export function subjectsOfAttributes(principal: PolicyPrincipal, attributes: Attributes, fields: readonly TestedField[]): SubjectResolver {
  const types = new Map(fields.map((field) => [field.key, field.type]))
  return (tested) => {
    const key = tested.slice('resource.'.length)
    const value = Object.hasOwn(attributes, key) ? attributes[key] : Object.hasOwn(attributes, tested) ? attributes[tested] : null
    const type = types.get(key)
    const kind = key === 'created_at' ? valueKinds.instant : type ? fieldTypeKinds[type] : jsonValueKind(value)
    return principalSubject(principal, tested) ?? knownSubject(kind, value)
  }
}
