import type { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { type REPLServer, start } from 'node:repl'
import { startApi } from '#api/server.ts'
import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { completeEnvironment } from '../bin/environment.ts'
import { loadDomains } from './console/domains.ts'
import { globalsOf } from './console/globals.ts'
import { ConsoleSession } from './console/session.ts'

// `npm run console -- [workspace] [who]`: a REPL with everything loaded, on the database of a running npm start or of DATABASE_URL.

const manual = `
  await org('Demo')                          enter a workspace by its name or id, as its owner
  await as('ann@example.com')                act as a person or service account, null for the visitor, 'system' for the platform
  scope                                      the current scope: the first argument of domain functions
  await records.createRecord(scope, 'locations', { name: 'Here' })
  records, types, access, functions, …       the functions of shared/<folder>; the name alone lists them
  await get('records/locations')             call the API as the current actor; also post, put, patch and del, with a body and headers
  await get('/healthz')                      a path with a leading slash is not below the workspace
  await sql\`select * from workspaces where id = \${scope.workspace.id}\`
  db, cache, queue, config                   process-wide services
`

const environment = completeEnvironment(process.env)
if (!environment.DATABASE_URL || !environment.SECRET_KEY) {
  console.error('Set DATABASE_URL and SECRET_KEY, or start Kontor with npm start.')
  process.exitCode = 2
} else {
  // Log failures only, and not each request from here.
  await open(readConfig({ ...environment, LOG_LEVEL: environment.LOG_LEVEL || 'warn' }), process.argv.slice(2))
}

/** Starts an API from the code at hand and a REPL on it. Ending it revokes the credentials that it made. */
async function open(config: Config, [workspace, who]: readonly string[]): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const api = await startApi(
    { ...config, port: 0, host: undefined, metricsPort: null, accessLog: false },
    createLogger('console', config.logLevel),
  )
  cleanup.defer(() => api.stop(1_000))
  const session = new ConsoleSession(api)
  cleanup.defer(() => session.leave())
  console.log(`Kontor at ${new URL(config.databaseUrl).host}${new URL(config.databaseUrl).pathname}; .manual lists the commands`)
  if (workspace !== undefined) await session.enter(workspace)
  if (who !== undefined) await session.become(who)
  const globals = globalsOf(api, session, await loadDomains())
  const server = start({ prompt: 'kontor> ' })
  Object.defineProperties(server.context, Object.getOwnPropertyDescriptors(globals))
  server.defineCommand('manual', { help: 'List the commands of Kontor', action: () => printManual(server) })
  if (process.stdin.isTTY) server.setupHistory(join(config.dataDir, 'console-history'), () => undefined)
  const evaluated = inOrder(server)
  await new Promise((resolve) => server.once('exit', resolve))
  await evaluated()
}

/** Evaluates lines one after the other; lines from a pipe would all start at once. The result resolves when all have ended. */
function inOrder(server: REPLServer): () => Promise<void> {
  const { eval: evaluate } = server
  // The REPL reports what a line throws to its domain, and then never calls back.
  const { _domain: failures } = server as REPLServer & { readonly _domain: EventEmitter }
  let last = Promise.resolve()
  Object.assign(server, {
    eval: (...[code, context, file, answer]: Parameters<typeof evaluate>) => {
      const run = () =>
        new Promise<void>((resolve) => {
          const end = () => {
            failures.off('error', end)
            resolve()
          }
          failures.on('error', end)
          evaluate.call(server, code, context, file, (...outcome) => {
            answer(...outcome)
            end()
          })
        })
      last = last.then(run)
    },
  })
  return () => last
}

function printManual(server: REPLServer): void {
  server.output.write(manual)
  server.displayPrompt()
}
