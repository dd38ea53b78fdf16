import type { EventEmitter } from 'node:events'
import { join } from 'node:path'
import { type REPLServer, start } from 'node:repl'
import { startApi } from '#api/server.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { configOf, type Environment } from '../environment.ts'
import { loadDomains } from './domains.ts'
import { globalsOf } from './globals.ts'
import { ConsoleSession } from './session.ts'

const manual = `
  await org('Demo')                          enter a workspace by its name or id, as its owner
  await as('ann@example.com')                act as a person or service account, null for the visitor, 'system' for the platform
  scope                                      the current scope: the first argument of domain functions
  await records.createRecord(scope, await types.requireRecordType(scope, 'locations'), { name: 'Here' })
  records, types, access, functions, …       the functions of shared/<folder>; the name alone lists them
  await get('records/locations')             call the API as the current actor; also post, put, patch and del, with a body and headers
  await get('/healthz')                      a path with a leading slash is not below the workspace
  await sql\`select * from workspaces where id = \${scope.workspace.id}\`
  db, cache, queue, config                   process-wide services
`

/**
 * Starts an API from the code at hand and a REPL on it, in a workspace and as a caller if they are given. Ending it revokes the credentials
 * that it made. Throws VALIDATION_ERROR without DATABASE_URL or SECRET_KEY.
 */
export async function openConsole(environment: Environment, workspace?: string, who?: string): Promise<void> {
  // Log failures only, and not each request from here.
  const config = configOf({ ...environment, LOG_LEVEL: environment.LOG_LEVEL || 'warn' }, true)
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
