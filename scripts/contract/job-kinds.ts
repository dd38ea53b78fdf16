import { pathTemplate } from '#api/http/openapi/parameters.ts'
import type { DelegateRoute, Section } from '#api/http/route.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'
import { code, codeList, formatCount, markdownTable } from './markdown-table.ts'

/** The jobs that routes file, with these routes. */
export function jobKindTable(sections: readonly Section[], jobs: readonly AnyJob[]): string {
  const delegated = sections.flatMap(({ base, routes }) =>
    routes.flatMap((route) => (route.kind === 'delegate' ? [{ job: route.job, line: lineOf(base, route) }] : [])),
  )
  const byJob = Map.groupBy(delegated, ({ job }) => job)
  return markdownTable(
    ['Kind', 'Started by', 'Retries', 'Longest attempt', 'At once in a workspace, over all processes'],
    jobs
      .filter((job) => byJob.has(job))
      .map((job) => [
        code(job.kind),
        (byJob.get(job) ?? []).map(({ line }) => code(line)).join(', '),
        retriesOf(job),
        `${formatCount(job.timeoutSeconds)} s`,
        slotsOf(job, jobs),
      ]),
  )
}

/** A later attempt of a job that runs once only records its failure. */
const retriesOf = ({ once, retry }: AnyJob): string => (once ? 'none' : `${retry.limit}, the first after ${retry.delaySeconds} s`)

/** The slots of a job's gate, and the other jobs that pass through it; empty without a gate. */
function slotsOf({ kind, gate }: AnyJob, jobs: readonly AnyJob[]): string {
  if (!gate) return ''
  const others = jobs.filter((other) => other.gate?.name === gate.name && other.kind !== kind)
  return `${gate.perWorkspace}${others.length > 0 ? `, together with ${codeList(others.map((other) => other.kind))}` : ''}`
}

const lineOf = (base: string, { method, path }: DelegateRoute): string =>
  `${method} ${pathTemplate(base + path).replace(/^\/v1\/orgs\/\{orgId\}/, '…')}`
