import { join } from 'node:path'
import { type REPLServer, start } from 'node:repl'
import { startApi } from '#api/server.ts'
import { type Config, readConfig } from '#shared/platform/kernel/config.ts'
import { createLogger } from '#shared/platform/kernel/log.ts'
import { completeEnvironment } from '../bin/environment.ts'
import { loadDomains } from './console/domains.ts'
import { globalsOf } from './console/globals.ts'
import { ConsoleSession } from './console/session.ts'

// `npm run console -- [workspace] [who]`: a REPL with the world loaded, over the database of a running npm start or of DATABASE_URL.

const manual = `
  await org('Demo')                          enter a workspace by its name or id, as its owner
  await as('ann@example.com')                be somebody else: a person, a service account, null for the visitor, 'system'
  scope                                      where you stand: what domain functions take first
  await records.createRecord(scope, 'locations', { name: 'Here' })
  records, types, access, functions, …       the functions of shared/<folder>; the name alone lists them
  await get('records/locations')             ask the API as whom you are; also post, put, patch and del, with a body and headers
  await get('/healthz')                      with a slash the path stands below no workspace
  await sql\`select * from workspaces where id = \${scope.workspace.id}\`
  db, cache, queue, config                   what every process holds
`

const environment = completeEnvironment(process.env)
if (!environment.DATABASE_URL || !environment.SECRET_KEY) {
  console.error('Set DATABASE_URL and SECRET_KEY, or start Kontor with npm start.')
  process.exitCode = 2
} else {
  // What goes wrong is told; every request that is made from here is not.
  await open(readConfig({ ...environment, LOG_LEVEL: environment.LOG_LEVEL || 'warn' }), process.argv.slice(2))
}

/** Opens the world with an API of its own, so that what is asked is the code at hand; its end takes back what it gave itself. */
async function open(config: Config, [workspace, who]: readonly string[]): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const api = await startApi({ ...config, port: 0 }, createLogger('console', config.logLevel))
  cleanup.defer(() => api.stop(1_000))
  const visit = new ConsoleSession(api)
  cleanup.defer(() => visit.leave())
  console.log(`Kontor at ${new URL(config.databaseUrl).host}${new URL(config.databaseUrl).pathname}; .manual tells what there is`)
  if (workspace !== undefined) await visit.enter(workspace)
  if (who !== undefined) await visit.become(who)
  const globals = globalsOf(api, visit, await loadDomains())
  const server = start({ prompt: 'kontor> ' })
  Object.defineProperties(server.context, Object.getOwnPropertyDescriptors(globals))
  server.defineCommand('manual', { help: 'What the console knows', action: () => printManual(server) })
  if (process.stdin.isTTY) server.setupHistory(join(config.dataDir, 'console-history'), () => undefined)
  const typed = inOrder(server)
  await new Promise((resolve) => server.once('exit', resolve))
  await typed()
}

/** Lets a line wait for the one before, which lines from a pipe would not. What it gives resolves once all have been done. */
function inOrder(server: REPLServer): () => Promise<void> {
  const { eval: evaluate } = server
  let last = Promise.resolve()
  Object.assign(server, {
    eval: (...[code, context, file, answer]: Parameters<typeof evaluate>) => {
      const run = () =>
        new Promise<void>((resolve) => {
          evaluate.call(server, code, context, file, (...outcome) => {
            answer(...outcome)
            resolve()
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
