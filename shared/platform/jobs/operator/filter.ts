import type { AnyJob, JobDefinition } from '#shared/platform/jobs/job.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { instant, schema, type TypeOf, t, uuid } from '#shared/platform/kernel/schema.ts'
import { toInstant, toUtcInstant } from '#shared/platform/kernel/time/instant.ts'
import { dayMs, hourMs, minuteMs } from '#shared/platform/kernel/time/units.ts'

/** States of jobs as operators see them (docs/contract/operators.md#jobs). */
export const jobStates = ['waiting', 'held', 'running', 'done', 'failed', 'cancelled'] as const
export type JobState = (typeof jobStates)[number]

/** The fewest characters of the part of an error that is searched for: fewer would read every failure. */
const minErrorLength = 3

/** The properties of a filter, for the query of a list and the body of an action. */
export const filterProperties = {
  kind: t.Optional(t.String({ description: 'Name of the job, such as records.import.' })),
  state: t.Optional(t.Enum(jobStates)),
  workspace: t.Optional(uuid),
  principal: t.Optional({ ...uuid, description: 'Who caused the job. Of kinds without tracking only the newest 10,000 are searched.' }),
  request_id: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 200,
      description: 'The request that caused the job. Of kinds without tracking only the newest 10,000 are searched.',
    }),
  ),
  error: t.Optional(
    t.String({ minLength: minErrorLength, maxLength: 200, description: 'A part of the code or message of failed jobs; case is ignored.' }),
  ),
  from: t.Optional({ ...instant, description: 'Filed at this time or later.' }),
  to: t.Optional({ ...instant, description: 'Filed before this time.' }),
}
export const jobFilter = schema(t.Object(filterProperties))

/** Which jobs are meant; all without a property. */
export type JobFilter = TypeOf<typeof jobFilter>

export const jobSorts = ['created_at', '-created_at'] as const
export type JobSort = (typeof jobSorts)[number]

/**
 * Throws VALIDATION_ERROR for a kind that is not declared, and for times that are none. Returns the filter with its times in UTC and its ids as
 * envelopes of jobs hold them: these are compared as text.
 */
export function checkFilter(jobs: readonly AnyJob[], filter: JobFilter): JobFilter {
  requireKind(jobs, filter.kind)
  const { workspace, principal, from, to, ...others } = filter
  return {
    ...others,
    ...(workspace !== undefined && { workspace: workspace.toLowerCase() }),
    ...(principal !== undefined && { principal: principal.toLowerCase() }),
    ...(from !== undefined && { from: readInstant('from', from) }),
    ...(to !== undefined && { to: readInstant('to', to) }),
  }
}

function requireKind(jobs: readonly AnyJob[], kind: string | undefined): void {
  if (kind === undefined || jobs.some(({ name }) => name === kind)) return
  throw problem('VALIDATION_ERROR', `kind must be the name of a job, such as ${jobs[0]?.name}, got ${kind}; kontor jobs lists them`)
}

function readInstant(name: string, text: string): string {
  const at = toUtcInstant(text)
  if (at === undefined) throw problem('VALIDATION_ERROR', `${name} must be an instant such as 2026-01-31T12:00:00Z, got ${text}`)
  return at
}

const unitMs = { m: minuteMs, h: hourMs, d: dayMs } as const

/** A duration before now, such as `30m`, `2h` or `7d`, as an instant. Any other text is left to the filter, which refuses what is none. */
export function readFilterTime(text: string, now: Date): string {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? []
  return count === undefined ? text : toInstant(new Date(now.getTime() - Number(count) * unitMs[unit as keyof typeof unitMs]))
}

/** The declared jobs by name. */
export const jobsByName = (jobs: readonly AnyJob[]): ReadonlyMap<string, JobDefinition<unknown, unknown>> =>
  new Map(jobs.map((job) => [job.name, job]))
