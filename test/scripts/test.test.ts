import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createProject, findProcess, kill, nothingRunsIn, type Project, type Run } from './project.ts'

const sample = `
import { writeFileSync } from 'node:fs'
import test from 'ava'
import { Client } from 'pg'
test('passes, as a superuser of a server of its own', async (t) => {
  const client = new Client({ connectionString: process.env.TEST_DATABASE_URL })
  await client.connect()
  t.is((await client.query('show is_superuser')).rows[0].is_superuser, 'on')
  t.is(process.env.DATABASE_URL, undefined)
  await client.end()
})
test.skip('skipped', (t) => t.fail())
`
const failing = `${sample}test('fails', (t) => t.deepEqual({ a: 1 }, { a: 2 }))\n`
const endless = `${sample}test('never ends', (t) => new Promise((resolve) => setTimeout(resolve, 60_000)).then(() => t.pass()))\n`

/** A project whose only test file holds this, with a temporary folder of its own to see what stays in it. */
function createSuite(text: string): Project & { temporary: () => string[]; npmTest: () => Run } {
  const project = createProject()
  const folder = join(project.folder, 'temporary')
  mkdirSync(folder)
  mkdirSync(join(project.folder, 'test'))
  writeFileSync(join(project.folder, 'test', 'sample.test.ts'), text)
  return {
    ...project,
    temporary: () => readdirSync(folder).filter((name) => name.startsWith('kontor-')),
    npmTest: () =>
      project.run('npm test -- test/sample.test.ts', {
        TMPDIR: folder,
        DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
        TEST_DATABASE_URL: '',
      }),
  }
}

test('test: a failing test: exit code 1, the count on the last line, and the server is gone', async (t) => {
  const project = createSuite(failing)
  t.teardown(() => project.remove())
  const run = project.npmTest()
  t.is(await run.ended, 1)
  t.regex(run.output(), /\n1 passed, 1 failed, 1 skipped\n(npm|$)/)
  await nothingRunsIn(project.folder)
  t.deepEqual(project.temporary(), [])
})

test('test: tests that pass: exit code 0, and nothing after the count', async (t) => {
  const project = createSuite(sample)
  t.teardown(() => project.remove())
  const run = project.npmTest()
  t.is(await run.ended, 0)
  t.regex(run.output(), /\n1 passed, 0 failed, 1 skipped\n$/)
  t.deepEqual(project.temporary(), [])
})

const endings: readonly { name: string; stop: (project: Project, run: Run) => Promise<void> }[] = [
  { name: 'Ctrl-C', stop: async (_, run) => run.interrupt() },
  { name: 'SIGTERM of npm', stop: async (_, run) => run.kill('SIGTERM') },
  { name: 'kill -9 of npm', stop: async (_, run) => run.kill('SIGKILL') },
  { name: 'kill -9 of the launcher', stop: async ({ folder }) => kill(await findProcess(folder, /scripts\/run\.mjs/), 'SIGKILL') },
]

for (const { name, stop } of endings) {
  test(`test: ${name} in the middle of the tests: nothing is left`, async (t) => {
    const project = createSuite(endless)
    t.teardown(() => project.remove())
    const run = project.npmTest()
    await run.says(/✔ passes/)
    await stop(project, run)
    t.not(await run.ended, 0)
    await nothingRunsIn(project.folder)
    t.deepEqual(project.temporary(), [])
  })
}

test('test: kill -9 of the runner: no process is left, and its folder goes with the next run', async (t) => {
  const project = createSuite(endless)
  t.teardown(() => project.remove())
  const run = project.npmTest()
  await run.says(/✔ passes/)
  kill(await findProcess(project.folder, /scripts\/test\.ts/), 'SIGKILL')
  await run.ended
  await nothingRunsIn(project.folder)
  const [abandoned = ''] = project.temporary()
  const longAgo = new Date(Date.now() - 60_000)
  utimesSync(join(project.folder, 'temporary', abandoned), longAgo, longAgo)
  writeFileSync(join(project.folder, 'test', 'sample.test.ts'), sample)
  t.is(await project.npmTest().ended, 0)
  t.deepEqual(project.temporary(), [])
})
