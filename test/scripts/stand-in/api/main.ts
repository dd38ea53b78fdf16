import { createServer } from 'node:http'
import { Pool } from 'pg'

// Stores notes: POST writes one and responds when the database has it, GET counts them.
const pool = new Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', () => {})

const routes: Readonly<Record<string, () => Promise<string>>> = {
  'GET /readyz': () => pool.query('select 1').then(() => 'ready'),
  'POST /notes': () => pool.query('insert into notes default values returning id').then(({ rows }) => String(rows[0].id)),
  'GET /notes': () => pool.query('select count(*) from notes').then(({ rows }) => rows[0].count),
  'GET /pid': async () => String(process.pid),
}

const server = createServer((request, response) => {
  const route = routes[`${request.method} ${request.url}`]
  if (!route) return response.writeHead(404).end()
  return route().then(
    (text) => response.end(text),
    (error: Error) => response.writeHead(503).end(error.message),
  )
})
server.listen(Number(process.env.PORT), () => console.log('listening'))

process.on('SIGTERM', () => {
  server.closeAllConnections()
  server.close(async () => {
    await pool.end()
    console.log('api stopped')
    process.exit()
  })
})
