import { entrancePages } from '#api/core/operators/entrance-pages.ts'
import { createJobRoutes } from '#api/core/operators/job-routes.ts'
import { createActPages } from '#api/core/operators/jobs/act-pages.ts'
import { createJobPages } from '#api/core/operators/jobs/detail-page.ts'
import { createJobListPage } from '#api/core/operators/jobs/list-page.ts'
import { logPages } from '#api/core/operators/log-page.ts'
import { mailPages } from '#api/core/operators/mail-pages.ts'
import { operatorsPages } from '#api/core/operators/operators-page.ts'
import { createPauseRoutes } from '#api/core/operators/pauses.ts'
import { routes } from '#api/core/operators/routes.ts'
import { workspacePages } from '#api/core/operators/workspace-pages.ts'
import type { FeatureRoutes } from '#api/http/route.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'

/** The routes of operators; `jobs` are the declared jobs. */
export const createFeature = (jobs: readonly AnyJob[]): FeatureRoutes => ({
  routes: [...routes, ...createPauseRoutes(jobs), ...createJobRoutes(jobs)],
  unversioned: [
    ...[...entrancePages, ...logPages, ...operatorsPages, ...workspacePages, ...mailPages],
    ...[createJobListPage(jobs), ...createJobPages(jobs), ...createActPages(jobs)],
  ],
})
