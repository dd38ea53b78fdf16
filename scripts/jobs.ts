import { jobs } from '#shared/features.ts'
import { formatTable } from './table.ts'

// `npm run jobs`: every declared job, by pool. For dead letters use `npx kontor jobs list`.

const order = [...jobs].sort((a, b) => (a.pool + a.name < b.pool + b.name ? -1 : 1))
const rows = order.map(({ name, pool, concurrency, slotsPerWorkspace, retry, timeoutSeconds, tracked, kind }) => [
  pool,
  name,
  concurrency,
  slotsPerWorkspace ?? null,
  `${retry.limit} × ${retry.delaySeconds} s`,
  `${timeoutSeconds} s`,
  tracked ? kind : null,
])
console.log(formatTable([['pool', 'job', 'at once', 'per workspace', 'retries', 'time limit', 'operation'], ...rows]))
