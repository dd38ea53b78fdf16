import type { Route } from '#api/http/route.ts'
import { permissions } from '#shared/core/policy/permissions.ts'
import { code, markdownTable } from './markdown-table.ts'
import { countByTag } from './route-counts.ts'

/** All permissions, each with the groups of the routes that declare it, alone or in addition to another. */
export const permissionTable = (routes: readonly Route[]): string =>
  markdownTable(
    ['Permission', 'Routes that ask for it'],
    permissions.map((name) => {
      const asking = routes.filter(({ permission, further = [] }) => [permission, ...further.map((one) => one.permission)].includes(name))
      return [code(name), asking.length > 0 ? countByTag(asking) : 'checked within the work']
    }),
  )
