import type { Route } from '#api/http/route.ts'
import { routes as jobs } from '#api/jobs/routes.ts'
import { routes as records } from '#api/records/routes.ts'

/** Every route that carries the version prefix; a literal path stands before the pattern that would swallow it. */
export const routes: readonly Route[] = [...records, ...jobs]
