import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { shareWorld } from '#test/support/shared-world.ts'
import { copyProject, type Project } from './project.ts'

const start = shareWorld(test)

/** What an installation of production packages holds; it changes when a package is added, removed or replaced. */
const packagesOf = ({ folder }: Project): string[] =>
  readdirSync(join(folder, 'node_modules'), { recursive: false }).map((name) => {
    const { ino, mtimeMs } = lstatSync(join(folder, 'node_modules', String(name)))
    return `${name} ${ino} ${mtimeMs}`
  })

/** An installation without development packages, on the database of the shared world. */
async function installProduction(t: ExecutionContext) {
  const { config } = await start()
  const project = copyProject({ isProduction: true })
  t.teardown(() => project.remove())
  const environment = {
    DATABASE_URL: config.databaseUrl,
    SECRET_KEY: config.secretKey.toString('hex'),
    DATA_DIR: config.dataDir,
    // Nothing may be fetched from a registry.
    npm_config_registry: 'http://127.0.0.1:1',
    PORT: '0',
  }
  return { project, environment }
}

const commands: readonly { command: string; prints: RegExp }[] = [
  { command: 'npm run trace -- nobody', prints: /0 steps/ },
  { command: 'npm run routes -- post queues', prints: /POST .*\/queues/ },
  { command: 'npm run jobs', prints: /records\.import/ },
  { command: 'npm run console', prints: /Kontor at / },
  { command: 'npm run migrate', prints: /The database is up to date/ },
  { command: 'npx kontor trace nobody', prints: /0 steps/ },
  { command: 'bin/kontor jobs list', prints: /./ },
  { command: 'bin/kontor status', prints: /Larger than a limit/ },
  { command: 'bin/kontor indexes', prints: /./ },
]

test('production: every command works without development packages and leaves node_modules as it is', async (t) => {
  const { project, environment } = await installProduction(t)
  const before = packagesOf(project)
  for (const { command, prints } of commands) {
    const run = project.run(command, environment)
    t.is(await run.ended, 0, `${command}: ${run.output()}`)
    t.regex(run.output(), prints, command)
    t.deepEqual(packagesOf(project), before, command)
  }
})

test('production: commands of development refuse and leave node_modules as it is', async (t) => {
  const { project, environment } = await installProduction(t)
  const before = packagesOf(project)
  for (const verb of ['test:faults', 'screenshots', 'postgres']) {
    const run = project.run(`node scripts/run.mjs ${verb}`, environment)
    t.is(await run.ended, 1)
    t.is(run.output(), 'The packages of package-lock.json are not installed. Run: npm ci\n')
    t.deepEqual(packagesOf(project), before)
  }
})

test('production: the API and a worker start without development packages and stop with exit code 0', async (t) => {
  const { project, environment } = await installProduction(t)
  for (const { command, ready } of [
    { command: 'bin/kontor api', ready: /api ready/ },
    { command: 'bin/kontor worker --pools=mail', ready: /worker ready/ },
  ]) {
    const run = project.run(command, environment)
    await run.says(ready)
    run.kill('SIGTERM')
    t.is(await run.ended, 0, run.output())
  }
})
