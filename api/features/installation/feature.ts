import { createPages } from '#api/features/installation/pages.ts'
import { createRoutes } from '#api/features/installation/routes.ts'
import type { FeatureRoutes } from '#api/http/route.ts'
import type { AnyJob } from '#shared/platform/jobs/job.ts'

export const createFeature = (jobs: readonly AnyJob[]): FeatureRoutes => ({ routes: createRoutes(jobs), unversioned: createPages(jobs) })
