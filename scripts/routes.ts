import { sections } from '#api/routes.ts'
import { formatTable } from './table.ts'

// `npm run routes`: every declared route. With words, only routes that contain all of them: `npm run routes -- POST queues`.

const words = process.argv.slice(2).map((word) => word.toLowerCase())
const rows = sections.flatMap(({ base, routes }) =>
  routes.map((route) => [
    route.method,
    base + route.path,
    route.permission,
    route.app,
    route.limit,
    route.kind === 'delegate' ? route.job.name : null,
    route.summary,
  ]),
)
const chosen = rows.filter((row) => words.every((word) => row.join(' ').toLowerCase().includes(word)))
console.log(formatTable([['method', 'path', 'permission', 'app', 'limit', 'job', 'summary'], ...chosen]))
console.log(`\n${chosen.length} routes`)
