import type { SdkMethod } from '#shared/core/automation/sdk-method.ts'
import { allReadableTypes } from '#shared/core/records/declarations/readable-types.ts'
import { readProperty, sentProperty, typesText } from '#shared/core/records/declarations/type-text.ts'
import type { Scope } from '#shared/core/scope/scope.ts'

/**
 * TypeScript declarations of a function's environment in this workspace: the globals, and the SDK with the record types and fields that the
 * caller may read. They are for editors; sources of functions are not checked against them.
 */
export async function renderSdkDeclarations(scope: Scope, methods: readonly SdkMethod[]): Promise<string> {
  const types = await allReadableTypes(scope)
  return [
    '// Made by Kontor for the functions of one workspace. A field with a question mark is hidden from you in some records.\n',
    typesText('ReadTypes', types, readProperty),
    typesText('SentTypes', types, sentProperty),
    fixed,
    `interface Sdk {\n${spacesOf(methods).map(spaceLines).join('')}}\n`,
    'declare const sdk: Sdk\n',
  ].join('\n')
}

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
