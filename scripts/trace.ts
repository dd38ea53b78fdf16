import { Database } from '#shared/platform/db/database.ts'
import { completeEnvironment } from '../bin/environment.ts'
import { formatTable } from './table.ts'
import { traceRequest } from './trace/steps.ts'

// `npm run trace -- <request id>`: everything that a request caused, by time, in the database of a running npm start or of DATABASE_URL.

const requestId = process.argv[2]
const { DATABASE_URL: url } = completeEnvironment(process.env)
if (!requestId || !url) {
  console.error(requestId ? 'Set DATABASE_URL, or start Kontor with npm start.' : 'Usage: npm run trace -- <request id>')
  process.exitCode = 2
} else {
  const db = new Database(url, { connections: 1, name: 'kontor trace', statementTimeoutMs: 60_000 })
  try {
    const steps = await traceRequest(db, requestId)
    const rows = steps.map(({ at, what, name, state, id, detail }) => [at, what, name, state, id, detail])
    console.log(formatTable([['at', 'what', 'name', 'state', 'id', 'detail'], ...rows]))
    console.log(`\n${rows.length} steps`)
  } finally {
    await db.close()
  }
}
