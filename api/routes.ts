import { routes as fields } from '#api/fields/routes.ts'
import type { Route, Section } from '#api/http/route.ts'
import { routes as jobs } from '#api/jobs/routes.ts'
import { routes as records } from '#api/records/routes.ts'
import { routes as modules } from '#api/types/modules.ts'
import { routes as types } from '#api/types/routes.ts'

/** Every route that carries the version prefix; a literal path stands before the pattern that would swallow it. */
export const routes: readonly Route[] = [...types, ...modules, ...fields, ...records, ...jobs]

/** Everything that is declared, by where it stands: the version is in the path of the authenticated routes (document 1, Versioning). */
export const sections: readonly Section[] = [{ base: '/v1', routes }]
