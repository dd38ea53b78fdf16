import { instant, integer, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { composeStatement, type Statement } from '#shared/platform/db/statements/statement.ts'
import { deadLetterQueue } from '#shared/platform/jobs/job.ts'
import type { JobFilter, JobSort } from '#shared/platform/jobs/operator/filter.ts'
import { operationState, stateJoins } from '#shared/platform/jobs/pgboss/operator/state.ts'

/** Where a job is kept: an operation of a tracked job; for others the queue, the deferred jobs or the dead letters. */
export type JobPlace = 'operation' | 'queue' | 'deferred' | 'letter'

const columns = {
  place: text.as<JobPlace>().notNull,
  id: uuid.notNull,
  name: text.notNull,
  workspace_id: uuid,
  created_at: instant.notNull,
}

/** A job that a search has found. */
export interface FoundJob {
  readonly place: JobPlace
  readonly id: string
  readonly name: string
  readonly workspace_id: string | null
  readonly created_at: string
}

/** The last row of a page. */
export interface JobPosition {
  readonly created_at: string
  readonly id: string
}

/** A filter and the declared jobs that it is applied to. */
export interface JobSearch {
  readonly filter: JobFilter
  /** The names of the kinds without operations. */
  readonly untracked: readonly string[]
  readonly after?: JobPosition | undefined
  readonly sort: JobSort
  /** Set to leave out jobs that have ended. */
  readonly onlyOpen?: boolean | undefined
}

/** Counts end here: `10000+`. */
export const maxCounted = 10_000

/** Of kinds without operations, the newest of all whose cause is looked at. */
const maxCausesRead = 10_000

const params = {
  kind: text.orNull,
  state: text.orNull,
  workspace: text.orNull,
  principal: text.orNull,
  requestId: text.orNull,
  error: text.orNull,
  from: instant.orNull,
  to: instant.orNull,
  afterAt: instant.orNull,
  afterId: uuid.orNull,
  untracked: texts,
  deadLetters: text,
  limit: integer,
}

const valuesOf = ({ filter, untracked, after }: JobSearch, limit: number) => ({
  kind: filter.kind,
  state: filter.state,
  workspace: filter.workspace,
  principal: filter.principal,
  requestId: filter.request_id,
  error: filter.error === undefined ? undefined : `%${filter.error.replaceAll(/[\\%_]/g, (sign) => `\\${sign}`)}%`,
  from: filter.from,
  to: filter.to,
  afterAt: after?.created_at,
  afterId: after?.id,
  untracked: filter.kind === undefined ? untracked : untracked.filter((name) => name === filter.kind),
  deadLetters: deadLetterQueue,
  limit,
})

/** The statement that finds one page, in the order of filing and id. */
export const findPage = (search: JobSearch, limit: number): Statement<FoundJob> =>
  composeStatement(
    `with page as (${sources(search, (source) => `(${source} order by ${orderOf(search, 'found.')} limit $limit::integer)`)})
     select place, id, name, workspace_id, created_at from page order by ${orderOf(search)} limit $limit::integer`,
    { params, columns },
    valuesOf(search, limit),
  )

/** The statement that counts matches, at most `limit`. */
export const countMatches = (search: JobSearch, limit: number): Statement<{ count: number }> =>
  composeStatement(
    `with counted as (select from (${sources(search, (source) => source, 'counts')}) as found limit $limit::integer)
     select count(*)::integer as count from counted`,
    { params, columns: { count: integer.notNull } },
    valuesOf(search, limit),
  )

const orderOf = ({ sort }: JobSearch, of = ''): string =>
  sort === 'created_at' ? `${of}created_at, ${of}id` : `${of}created_at desc, ${of}id desc`

/** SQL of all sources that may hold matches, joined by union all. */
function sources(search: JobSearch, wrap: (source: string) => string, purpose: 'page' | 'counts' = 'page'): string {
  const { filter, untracked } = search
  const isTracked = filter.kind === undefined || !untracked.includes(filter.kind)
  const found = [
    ...(isTracked ? operationSources(search) : []),
    ...(filter.kind === undefined || !isTracked ? untrackedSources(search, purpose) : []),
  ]
  const nothing = `select 'queue' as place, null::uuid as id, '' as name, null::uuid as workspace_id, now() as created_at where false`
  return (found.length === 0 ? [nothing] : found.map((source) => wrap(`select * from (${source}) as found`))).join(' union all ')
}

const list = (conditions: readonly (string | false | undefined)[]): string => conditions.filter(Boolean).join(' and ') || 'true'

/** The conditions on the time of filing, and on the position after which a page begins. */
const timeConditions = ({ filter, after, sort }: JobSearch, at: string, id: string): (string | false)[] => [
  filter.from !== undefined && `${at} >= $from::timestamptz`,
  filter.to !== undefined && `${at} < $to::timestamptz`,
  after !== undefined && `(${at}, ${id}) ${sort === 'created_at' ? '>' : '<'} ($afterAt::timestamptz, $afterId::uuid)`,
]

const operationColumns = `'operation' as place, operation.id, operation.job as name, operation.workspace_id, operation.created_at`

function operationSources(search: JobSearch): string[] {
  const { filter } = search
  const conditions = [
    filter.kind !== undefined && 'operation.job = $kind::text',
    filter.workspace !== undefined && 'operation.workspace_id = $workspace::text::uuid',
    filter.principal !== undefined && 'operation.principal_id = $principal::text::uuid',
    filter.request_id !== undefined && 'operation.request_id = $requestId::text',
    filter.error !== undefined && `operation.status = 'failed' and not operation.is_cancelled and ${errorMatches}`,
    ...timeConditions(search, 'operation.created_at', 'operation.id'),
  ]
  const from = (...more: string[]) => `select ${operationColumns} from operations as operation where ${list([...conditions, ...more])}`
  const open = (joins: string, ...more: string[]) =>
    `select ${operationColumns} from ${joins} ${stateJoins}
     where ${list([...conditions, 'operation.finished_at is null', ...more, `${operationState} = $state::text`])}`
  const operations = 'operations as operation'
  switch (filter.state) {
    case 'done':
      return [from("operation.status = 'done'")]
    case 'failed':
      return [from("operation.status = 'failed' and not operation.is_cancelled")]
    case 'cancelled':
      return [from('operation.is_cancelled')]
    case 'waiting':
      // Of very many waiting jobs the few that are held are left out. Those between two attempts have operations that are still running.
      return [
        from("operation.status = 'queued' and operation.finished_at is null", notHeld),
        open(operations, "operation.status = 'running'"),
      ]
    case 'running':
      // A job that was fetched this moment has an operation that is still queued.
      return [open(operations, "operation.status = 'running'")]
    case 'held':
      return [
        open(`${heldIds} join operations as operation on operation.id = held.id`),
        open(operations, "operation.status = 'running' and operation.awaits is null", notHeld),
      ]
    default:
      return [search.onlyOpen ? from('operation.finished_at is null') : from()]
  }
}

/** The operations of deferred jobs and of jobs that wait for a part, by small indexes: all waiting ones may be very many. */
const heldIds = `(
  select coalesce((envelope ->> 'operationId')::uuid, id) as id from deferred_jobs
  union
  select coalesce((data ->> 'operationId')::uuid, id) from pgboss.job
  where state = 'retry' and output ->> 'part' is not null and start_after > now()
) as held`

const notHeld = `operation.id not in (select held.id from ${heldIds} where held.id is not null)`

const errorMatches = `(operation.error ->> 'code' ilike $error::text or operation.error ->> 'message' ilike $error::text
  or operation.attempts -> -1 ->> 'error' ilike $error::text)`

/** Columns that the conditions on jobs without operations read. */
const causeOf = (data: string, key: string): string => `${data} -> 'cause' ->> '${key}'`

function untrackedSources(search: JobSearch, purpose: 'page' | 'counts'): string[] {
  const { filter } = search
  const isOpen = filter.error === undefined
  const in_ = (...states: (string | undefined)[]) => states.includes(filter.state)
  return [
    ...(isOpen && in_(undefined, 'waiting', 'held') ? [queueSource(search, purpose)] : []),
    ...(isOpen && in_(undefined, 'held') ? [deferredSource(search)] : []),
    ...(in_(undefined, 'failed') && !search.onlyOpen ? [letterSource(search)] : []),
  ]
}

function queueSource(search: JobSearch, purpose: 'page' | 'counts'): string {
  const { filter, sort } = search
  const readsCause = filter.principal !== undefined || filter.request_id !== undefined
  const conditions = [
    'job.name = kind.name',
    "job.state < 'active' and not job.blocked and job.priority = 0",
    filter.workspace !== undefined && 'job.group_id = $workspace::text',
    filter.state === 'waiting' && 'job.start_after <= now()',
    filter.state === 'held' && 'job.start_after > now()',
  ]
  const times = timeConditions(search, 'job.created_on', 'job.id')
  const columns = `'queue' as place, job.id, job.name, job.group_id::uuid as workspace_id, job.created_on as created_at`
  const ofKinds = (where: string, rest: string) => `from unnest($untracked::text[]) as kind (name)
    cross join lateral (
      select job.id, job.name, job.group_id, job.created_on from pgboss.job as job where ${where} ${rest}
    ) as job`
  if (!readsCause) {
    const direction = sort === 'created_at' ? '' : ' desc'
    const order = `order by job.created_on${direction}, job.id${direction} limit $limit::integer`
    return `select ${columns} ${ofKinds(list([...conditions, ...times]), purpose === 'page' ? order : '')}`
  }
  // Ids are sorted without the data, which would not fit into memory.
  const newest = `order by job.created_on desc limit ${maxCausesRead}`
  return `select ${columns}
    from (select job.id, job.name, job.group_id, job.created_on ${ofKinds(list(conditions), newest)} ${newest}) as job
    join pgboss.job as kept on kept.name = job.name and kept.id = job.id
    where ${list([...causeConditions(search, 'kept.data'), ...times])}`
}

const causeConditions = ({ filter }: JobSearch, data: string): (string | false)[] => [
  filter.principal !== undefined && `${causeOf(data, 'actorId')} = $principal::text`,
  filter.request_id !== undefined && `${causeOf(data, 'requestId')} = $requestId::text`,
]

/** The time of filing of a deferred job is the time of its id. */
const filedAt = 'coalesce(uuid_extract_timestamp(deferred.id), now())'

function deferredSource(search: JobSearch): string {
  const { filter } = search
  const conditions = [
    'deferred.queue = any($untracked::text[])',
    filter.workspace !== undefined && 'deferred.workspace_id = $workspace::text::uuid',
    ...causeConditions(search, 'deferred.envelope'),
    ...timeConditions(search, filedAt, 'deferred.id'),
  ]
  return `select 'deferred' as place, deferred.id, deferred.queue as name, deferred.workspace_id, ${filedAt} as created_at
    from deferred_jobs as deferred where ${list(conditions)}`
}

function letterSource(search: JobSearch): string {
  const { filter } = search
  const at = 'coalesce(letter.source_created_on, letter.created_on)'
  const conditions = [
    "letter.name = $deadLetters::text and letter.state = 'created' and not letter.blocked and letter.source_name = any($untracked::text[])",
    filter.workspace !== undefined && `letter.data ->> 'workspaceId' = $workspace::text`,
    filter.error !== undefined && `('INTERNAL' ilike $error::text or letter.output ->> 'message' ilike $error::text)`,
    ...causeConditions(search, 'letter.data'),
    ...timeConditions(search, at, 'letter.source_id'),
  ]
  return `select 'letter' as place, letter.source_id as id, letter.source_name as name, (letter.data ->> 'workspaceId')::uuid as workspace_id,
      ${at} as created_at
    from pgboss.job as letter where ${list(conditions)}`
}
