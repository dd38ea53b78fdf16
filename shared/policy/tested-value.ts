import type { FieldType, FieldValue } from '#shared/kernel/field-type.ts'
import { type Kind, kindOf, kindOfJson, kinds } from '#shared/policy/kinds.ts'

/** Who asks, as far as rules can tell (document 1, Policy rule). `id` is null for the visitor. */
export interface Principal {
  readonly id: string | null
  readonly type: 'user' | 'service' | 'anonymous'
  /** The workspace's owner holds everything, and no rule binds it. */
  readonly owner: boolean
}

/** A record as rules test it. What is not known yet, such as the id of a record to be created, is null. */
export interface TestedRecord {
  readonly id: string | null
  readonly object_type: string
  /** Id of the creator; rules name it `resource.owner`. */
  readonly created_by: string | null
  /** RFC 3339. */
  readonly created_at: string | null
  readonly values: Readonly<Record<string, FieldValue | undefined>> | ReadonlyMap<string, FieldValue>
}

/** A field of a record type, as rules test it, reveal it and find it in a row. */
export interface TestedField {
  readonly key: string
  readonly type: FieldType
  /** Column of the value; of a currency field, of its amount. */
  readonly column: string
  /** Keys of the fields that the formula of a computed field reads. */
  readonly reads?: readonly string[]
  /** Keys of the fields that earlier formulas of it read, of which some records still hold the results. */
  readonly staleReads?: readonly string[]
}

/** What a test looks at: something known before any record is, or something of a record. */
export type Subject =
  | { readonly known: true; readonly kind: Kind; readonly value: unknown }
  | {
      readonly known: false
      readonly kind: Kind
      readonly of: (record: TestedRecord) => unknown
      readonly column: string
      readonly nullable: boolean
    }
export type SubjectOf = (tested: string) => Subject

/** Whether a condition may test a value of this name; the reserved field keys are no fields (decisions, Records, types, fields). */
export const isTestable = (tested: string): boolean => builtIn.has(tested) || (fieldForm.test(tested) && !notFields.has(tested))

const fieldForm = /^resource\.[a-z][a-z0-9_]{1,63}$/
const notFields = new Set(['resource.created_by', 'resource.updated_at', 'resource.values'])

const known = (kind: Kind, value: unknown): Subject => ({ known: true, kind, value })
const missing = known(kinds.text, null)

const ofRecord: ReadonlyMap<string, Subject> = new Map<string, Subject>([
  ['resource.id', { known: false, kind: kinds.id, of: (record) => record.id, column: 'id', nullable: false }],
  ['resource.owner', { known: false, kind: kinds.id, of: (record) => record.created_by, column: 'created_by', nullable: true }],
  ['resource.created_at', { known: false, kind: kinds.instant, of: (record) => record.created_at, column: 'created_at', nullable: false }],
])
const builtIn = new Set([...ofRecord.keys(), 'resource.object_type', 'principal.id', 'principal.type'])

const ofPrincipal = ({ id, type }: Principal, tested: string): Subject | undefined => {
  if (tested === 'principal.id') return known(kinds.id, id)
  return tested === 'principal.type' ? known(kinds.text, type) : undefined
}

/** The subjects of tests on the records of one type. A field that the type does not have is a missing value. */
export function subjectsOfType(principal: Principal, typeKey: string, fields: readonly TestedField[]): SubjectOf {
  const byName = new Map(fields.map((field) => [`resource.${field.key}`, ofField(field)]))
  return (tested) => {
    if (tested === 'resource.object_type') return known(kinds.text, typeKey)
    return ofPrincipal(principal, tested) ?? ofRecord.get(tested) ?? byName.get(tested) ?? missing
  }
}

const ofField = ({ key, type, column }: TestedField): Subject => ({
  known: false,
  kind: kindOf[type],
  of: ({ values }) => {
    if (values instanceof Map) return values.get(key)
    return Object.hasOwn(values, key) ? (values as Readonly<Record<string, FieldValue>>)[key] : null
  },
  column,
  nullable: true,
})

/** The subjects of tests where nothing but the caller is known: whatever a record would say stays open. */
export const subjectsOfAnyRecord =
  (principal: Principal): SubjectOf =>
  (tested) =>
    ofPrincipal(principal, tested) ?? ofRecord.get(tested) ?? somethingOfRecord
const somethingOfRecord: Subject = { known: false, kind: kinds.text, of: () => null, column: '', nullable: true }

/** What is known of a thing, by names such as `status`, `owner`, `created_at`, `id`, `object_type`; with `resource.` in front will do too. */
export type Attributes = Readonly<Record<string, unknown>>

/** The subjects of tests on given attributes; the fields say what type those are, where they are known. */
export function subjectsOfAttributes(principal: Principal, attributes: Attributes, fields: readonly TestedField[]): SubjectOf {
  const types = new Map(fields.map((field) => [field.key, field.type]))
  return (tested) => {
    const key = tested.slice('resource.'.length)
    const value = Object.hasOwn(attributes, key) ? attributes[key] : Object.hasOwn(attributes, tested) ? attributes[tested] : null
    const type = types.get(key)
    const kind = key === 'created_at' ? kinds.instant : type ? kindOf[type] : kindOfJson(value)
    return ofPrincipal(principal, tested) ?? known(kind, value)
  }
}
