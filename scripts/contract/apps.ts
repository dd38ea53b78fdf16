import type { Route } from '#api/http/route.ts'
import { apps } from '#shared/platform/kernel/apps.ts'
import { code, markdownTable } from './markdown-table.ts'
import { countByTag } from './route-counts.ts'

/** All apps, each with the groups of its routes. */
export const appTable = (routes: readonly Route[]): string =>
  markdownTable(
    ['App', 'Routes that it closes'],
    apps.map((name) => [code(name), countByTag(routes.filter(({ app }) => app === name))]),
  )
