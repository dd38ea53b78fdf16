import type { Executor } from '#shared/platform/db/database.ts'
import { type DueKind, defineDue } from '#shared/platform/due/due-kind.ts'
import { setDue } from '#shared/platform/due/due-times.ts'
import { defineJob, retryPolicies } from '#shared/platform/jobs/job.ts'
import { type FetchedJob, storeDeferredJob } from '#shared/platform/jobs/pgboss/store-deferred-job.ts'
import { type AppName, apps } from '#shared/platform/kernel/apps.ts'
import { type WorkDeclaration, waitsForApp } from '#shared/platform/kernel/background.ts'
import { schema, t, uuid } from '#shared/platform/kernel/schema.ts'

/** Puts a deferred job back into its queue. */
export const requeueDeferredJob = defineJob({
  name: 'due.wake',
  visible: ['workspaceId', 'jobId'],
  cancel: 'refused',
  work: 'upkeep',
  app: null,
  pool: 'schedule',
  concurrency: 10,
  slotsPerWorkspace: 5,
  retry: retryPolicies.transient,
  timeoutSeconds: 60,
  tracked: false,
  payload: schema(t.Object({ workspaceId: uuid, jobId: uuid })),
  result: schema(t.Null()),
})

const kindOf = (app: AppName | null): DueKind<{ workspaceId: string; jobId: string }> =>
  defineDue({
    name: app === null ? 'jobs.deferred' : `jobs.deferred ${app}`,
    job: requeueDeferredJob,
    payload: ({ workspaceId, subject }) => ({ workspaceId: workspaceId ?? '', jobId: subject }),
    work: 'due',
    app,
  })

const ofNoApp = kindOf(null)
const ofApps = Object.fromEntries(apps.map((app) => [app, kindOf(app)])) as Record<AppName, DueKind<unknown>>

/**
 * The due kinds of deferred jobs, one for each app and one for jobs that wait for no app. A deferred job is due at once, but held until its
 * workspace is active and the app that it waits for is on.
 */
export const deferredJobKinds: readonly DueKind<unknown>[] = [ofNoApp, ...Object.values(ofApps)]

/**
 * Defers a fetched job until its workspace is active and, where its kind of work waits for its app, the app is on. Then the job is enqueued
 * once, also when both already are so again by now. Returns false when another attempt has the job.
 */
export function deferJob(db: Executor, workspaceId: string, { work, app }: WorkDeclaration, job: FetchedJob, now: Date): Promise<boolean> {
  const kind = app !== null && waitsForApp(work) ? ofApps[app] : ofNoApp
  return db.transaction(async (tx) => {
    const isKept = await storeDeferredJob(tx, workspaceId, job)
    if (isKept) await setDue(tx, kind, workspaceId, [{ subject: job.id, at: now }])
    return isKept
  })
}
