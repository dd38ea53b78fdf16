import { instant, integer, text, texts, uuid } from '#shared/platform/db/statements/sql-types.ts'
import { composeStatement, type Statement } from '#shared/platform/db/statements/statement.ts'
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
  const isUntracked = filter.kind === undefined || !isTracked
  const found = isOfFailures(search)
    ? failureSources(search, isTracked, isUntracked)
    : [...(isTracked ? operationSources(search) : []), ...(isUntracked ? untrackedSources(search, purpose) : [])]
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

const ofOperation = 'operation.id, operation.job as name, operation.workspace_id, operation.created_at'

const operationColumns = `'operation' as place, ${ofOperation}`

/** The conditions that operations and their failures (migration 0030) share. */
const operationConditions = (search: JobSearch): (string | false)[] => [
  search.filter.kind !== undefined && 'operation.job = $kind::text',
  search.filter.workspace !== undefined && 'operation.workspace_id = $workspace::text::uuid',
  search.filter.principal !== undefined && 'operation.principal_id = $principal::text::uuid',
  search.filter.request_id !== undefined && 'operation.request_id = $requestId::text',
  ...timeConditions(search, 'operation.created_at', 'operation.id'),
]

/** Whether only failed jobs can match. */
const isOfFailures = ({ filter }: JobSearch): boolean => filter.error !== undefined || filter.state === 'failed'

function failureSources(search: JobSearch, isTracked: boolean, isUntracked: boolean): string[] {
  const { filter, onlyOpen } = search
  if (onlyOpen || (filter.state !== undefined && filter.state !== 'failed')) return []
  const places = isTracked && isUntracked ? 'not operation.is_letter or ' : ''
  return [failureSource(search, isUntracked ? `(${places}${isLetter})` : 'not operation.is_letter')]
}

const isLetter = '(operation.is_letter and operation.job = any($untracked::text[]))'

/** Failures from their narrow rows; `ofPlace` is a condition on them. */
function failureSource(search: JobSearch, ofPlace: string): string {
  const error = search.filter.error !== undefined && 'operation.text like lower($error::text)'
  return `select case when operation.is_letter then 'letter' else 'operation' end as place, ${ofOperation}
    from job_failures as operation where ${list([ofPlace, ...operationConditions(search), error])}`
}

function operationSources(search: JobSearch): string[] {
  const { filter } = search
  const conditions = operationConditions(search)
  const from = (...more: string[]) => `select ${operationColumns} from operations as operation where ${list([...conditions, ...more])}`
  const open = (joins: string, ...more: string[]) =>
    `select ${operationColumns} from ${joins} ${stateJoins}
     where ${list([...conditions, 'operation.finished_at is null', ...more, `${operationState} = $state::text`])}`
  const operations = 'operations as operation'
  switch (filter.state) {
    case 'done':
      return [from("operation.status = 'done'")]
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

/** Columns that the conditions on jobs without operations read. */
const causeOf = (data: string, key: string): string => `${data} -> 'cause' ->> '${key}'`

function untrackedSources(search: JobSearch, purpose: 'page' | 'counts'): string[] {
  const { filter } = search
  const in_ = (...states: (string | undefined)[]) => states.includes(filter.state)
  return [
    ...(in_(undefined, 'waiting', 'held') ? [queueSource(search, purpose)] : []),
    ...(in_(undefined, 'held') ? [deferredSource(search)] : []),
    ...(in_(undefined) && !search.onlyOpen ? [failureSource(search, isLetter)] : []),
  ]
}

/** Whether the search reads the causes of queued jobs, for which no index is kept. */
export const readsCauses = ({ filter: { principal, request_id, state, error } }: JobSearch): boolean =>
  (principal !== undefined || request_id !== undefined) && error === undefined && [undefined, 'waiting', 'held'].includes(state)

function queueSource(search: JobSearch, purpose: 'page' | 'counts'): string {
  const { filter, sort } = search
  const conditions = [
    'job.name = kind.name',
    "job.state < 'active' and not job.blocked and job.priority = 0",
    filter.workspace !== undefined && 'job.group_id = $workspace::text',
    filter.state === 'waiting' && 'job.start_after <= now()',
    filter.state === 'held' && 'job.start_after > now()',
  ]
  const times = timeConditions(search, 'job.created_on', 'job.id')
  const columns = `'queue' as place, job.id, job.name, job.group_id::uuid as workspace_id, job.created_on as created_at`
  const ofKinds = (where: string, rest: string, more = '') => `from unnest($untracked::text[]) as kind (name)
    cross join lateral (
      select job.id, job.name, job.group_id, job.created_on ${more} from pgboss.job as job where ${where} ${rest}
    ) as job`
  if (!readsCauses(search)) {
    const direction = sort === 'created_at' ? '' : ' desc'
    const order = `order by job.created_on${direction}, job.id${direction}`
    return `select ${columns} ${ofKinds(list([...conditions, ...times]), `${purpose === 'page' ? order : ''} limit $limit::integer`)}`
  }
  // The newest of each kind come from the index of waiting jobs in their order, and only whether one matches is sorted with its id.
  const newest = `order by job.created_on desc limit ${maxCausesRead}`
  const matches = `, ${list(causeConditions(search, 'job.data'))} as matches`
  return `select ${columns}
    from (select job.* ${ofKinds(list(conditions), newest, matches)} ${newest}) as job
    where ${list(['job.matches', ...times])}`
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
