import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import type { RecordAccess } from '#shared/core/policy/fields/record-access.ts'
import { recordAccessFor } from '#shared/core/records/access.ts'
import type { Scope } from '#shared/core/scope/scope.ts'
import type { Field } from '#shared/core/types/fields/field.ts'
import { type RecordType, requireRecordType } from '#shared/core/types/record-type.ts'
import { findTypes } from '#shared/core/types/types/store.ts'
import type { FieldType } from '#shared/platform/kernel/field-type.ts'

/**
 * TypeScript declarations of a function's environment in this workspace: the globals, and the SDK with the record types and fields that the
 * caller may read. They are for editors; sources of functions are not checked against them.
 */
export async function renderSdkDeclarations(scope: Scope, methods: readonly SdkMethod[]): Promise<string> {
  const stored = await scope.db.query(findTypes({ workspaceId: scope.workspace.id }))
  const types = await Promise.all(stored.map(({ key }) => requireRecordType(scope, key)))
  const readable = types
    .map((type) => ({ type, access: recordAccessFor(scope, type, 'records:read') }))
    .filter(({ access }) => access.verdict !== 'none')
  return [
    '// Made by Kontor for the functions of one workspace. A field with a question mark is hidden from you in some records.\n',
    `interface ReadTypes {\n${readable.map(({ type, access }) => typeLines(type, access, readTypeOf)).join('')}}\n`,
    `interface SentTypes {\n${readable.map(({ type, access }) => typeLines(type, access, inputTypeOf)).join('')}}\n`,
    fixed,
    `interface Sdk {\n${spacesOf(methods).map(spaceLines).join('')}}\n`,
    'declare const sdk: Sdk\n',
  ].join('\n')
}

type Describe = (field: RecordType['fields'][number]) => string | undefined

/** Declarations of one type's fields, each with its label as comment. */
function typeLines({ key, label, fields }: RecordType, access: RecordAccess, describe: Describe): string {
  const lines = fields
    .filter((field) => !access.neverVisible.has(field.key))
    .map((field) => ({ field, text: describe(field), optionalMark: describe === inputTypeOf || access.hideable.has(field.key) ? '?' : '' }))
    .filter(({ text }) => text !== undefined)
    .map(({ field, text, optionalMark }) => `${comment('    ', field.label)}    ${field.key}${optionalMark}: ${text}\n`)
  return `${comment('  ', label)}  ${key}: {\n${lines.join('')}  }\n`
}

/** Escapes a label, which users write, so that it cannot end the comment. */
const comment = (indent: string, label: string): string =>
  `${indent}/** ${label.replaceAll('*/', '* /').replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ')} */\n`

const spacesOf = (methods: readonly SdkMethod[]): [string, SdkMethod[]][] => [
  ...Map.groupBy(methods, ({ name }) => name.split('.')[0] ?? ''),
]

const spaceLines = ([space, methods]: readonly [string, readonly SdkMethod[]]): string =>
  `  readonly ${space}: {\n${methods.map(({ name, declaration }) => `    ${name.split('.')[1]}${declaration}\n`).join('')}  }\n`

const fixed = `type TypeKey = keyof ReadTypes
type ReadValues<K extends TypeKey> = ReadTypes[K]
type SentValues<K extends TypeKey> = K extends keyof SentTypes ? SentTypes[K] : never
interface RecordOf<K extends TypeKey> {
  id: string
  object_type: K
  created_by: string | null
  created_at: string
  updated_at: string
  values: ReadValues<K>
  /** With expand, by field key: a record or null, or records. */
  expanded?: { [field: string]: RecordOf<TypeKey> | null | RecordOf<TypeKey>[] }
}
interface RecordPage<K extends TypeKey> {
  records: RecordOf<K>[]
  /** In plain listings; absent on the last page. */
  next_cursor?: string
  /** In searches. */
  total?: number
}
/** Conditions on fields; those of a list must all hold. */
type RecordFilter =
  | { field: string; op?: string; value?: string | string[] }
  | RecordFilter[]
  | { all: RecordFilter[] }
  | { any: RecordFilter[] }
  | { not: RecordFilter }
/** As in the address of the records route; q, filter, sort, page and offset make it a search. */
interface RecordQuery {
  limit?: number | string
  fields?: string
  expand?: string
  cursor?: string
  ref_field?: string
  ref_id?: string
  q?: string
  filter?: string | RecordFilter
  sort?: string
  dir?: string
  page?: number | string
  offset?: number | string
}
interface Money {
  amount: number
  code: string
}
/** A message by a connection; what is left out comes from the template. */
interface MessageInput {
  connection_id: string
  template_id?: string
  /** Or the record and its field that has the address. */
  to?: string
  record_type?: string
  record_id?: string
  to_field?: string
  subject?: string
  body_text?: string
  body_html?: string
  vars?: Record<string, string | number | boolean | null>
}
interface DriveObject {
  key: string
  name: string
  size: number
  content_type: string
  sha256: string
  created_by: string | null
  created_at: string
  updated_at: string
}
interface QueueItem {
  id: string
  key: string
  stage: string
  status: 'open' | 'done' | 'failed' | 'cancelled'
  priority: number
  source: string
  batch: string
  record_id: string | null
  payload: Record<string, unknown>
  claimed_by: string | null
  claim_expires_at: string | null
  assignee_id: string
  attempts: number
  due_at: string | null
  overdue: boolean
  entered_stage_at: string
  created_at: string
}
interface QueueItemInput {
  key: string
  stage?: string
  batch?: string
  priority?: number
  record_id?: string
  assignee_id?: string
  payload?: Record<string, unknown>
}
interface Invocation {
  result: unknown
  logs: { level: 'log' | 'info' | 'warn' | 'error'; msg: string }[]
  steps: { method: string; is_error: boolean }[]
  duration_ms: number
  timed_out: boolean
  error?: string
}
/** What a function gets that is called at its public address. */
interface PublicRequest {
  method: 'GET' | 'POST'
  path: string
  query: Record<string, string>
  body: unknown
}
interface Console {
  log(...values: unknown[]): void
  info(...values: unknown[]): void
  warn(...values: unknown[]): void
  error(...values: unknown[]): void
}
declare var console: Console
declare function setTimeout(action: (...values: any[]) => void, delay?: number, ...values: any[]): number
declare function clearTimeout(timer?: number): void
`

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
const readTypeOf = (field: Field): string => `${shapes[field.type].read(optionsOf(field))} | null`

/** TypeScript type of a field's input; undefined for a formula field. */
function inputTypeOf(field: Field): string | undefined {
  if (field.rules.formula !== undefined) return undefined
  const { alsoSent } = shapes[field.type]
  return alsoSent === undefined ? readTypeOf(field) : `${readTypeOf(field)} | ${alsoSent}`
}

const optionsOf = ({ rules }: Field): string => (rules.options ?? []).map((option) => JSON.stringify(option)).join(' | ') || 'string'
