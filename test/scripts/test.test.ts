import { mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { copy, createProject, findProcess, kill, nothingRunsIn, type Project, type Run } from './project.ts'

const sample = `
import { writeFileSync } from 'node:fs'
import declare from 'ava'
import { Client } from 'pg'
declare('passes, as a superuser of a server of its own', async (t) => {
  const client = new Client({ connectionString: process.env.TEST_DATABASE_URL })
  await client.connect()
  t.is((await client.query('show is_superuser')).rows[0].is_superuser, 'on')
  t.is(process.env.DATABASE_URL, undefined)
  await client.end()
})
declare.skip('skipped', (t) => t.fail())
`
const failing = `${sample}declare('fails', (t) => t.deepEqual({ a: 1 }, { a: 2 }))\n`
const endless = `${sample}declare('never ends', (t) => new Promise((resolve) => setTimeout(resolve, 60_000)).then(() => t.pass()))\n`

/** A project whose only test file has this text, with its own temporary folder to check for leftovers. */
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

test('test: a failing test gives exit code 1, AVA prints last, and the server is gone', async (t) => {
  const project = createSuite(failing)
  t.teardown(() => project.remove())
  const run = project.npmTest()
  t.is(await run.ended, 1)
  t.regex(run.output(), /\n {2}1 test failed\n {2}1 test skipped\n*(npm|$)/)
  await nothingRunsIn(project.folder)
  t.deepEqual(project.temporary(), [])
})

test('test: what failed is printed once more before AVA’s summary, without what passed tests logged', async (t) => {
  const logging = `declare('logs', (t) => (t.log('x'), t.pass()))`
  const throwing = `declare('throws', (t) => (setImmediate(() => { throw new Error('nobody catches it') }), new Promise(() => {})))`
  const project = createSuite([sample, logging, throwing].join('\n'))
  t.teardown(() => project.remove())
  const run = project.npmTest()
  t.is(await run.ended, 1)
  const report = run.output()
  const repeated = report.slice(report.indexOf('\n  Other than passed tests:\n'))
  t.regex(repeated, /Uncaught exception in test\/sample\.test\.ts.+nobody catches it.+\n {2}─\n\n.*\n {2}1 uncaught exception\n*(npm|$)/s)
  t.notRegex(repeated, /✔|ℹ/)
  await nothingRunsIn(project.folder)
})

test('test: passing tests give exit code 0, and nothing is printed after AVA’s count', async (t) => {
  const project = createSuite(sample)
  t.teardown(() => project.remove())
  const run = project.npmTest()
  t.is(await run.ended, 0)
  t.regex(run.output(), /\n {2}1 test passed\n {2}1 test skipped\n*$/)
  t.deepEqual(project.temporary(), [])
})

const endings: readonly { name: string; stop: (project: Project, run: Run) => Promise<void> }[] = [
  { name: 'Ctrl-C', stop: async (_, run) => run.interrupt() },
  { name: 'SIGTERM of npm', stop: async (_, run) => run.kill('SIGTERM') },
  { name: 'kill -9 of npm', stop: async (_, run) => run.kill('SIGKILL') },
  { name: 'kill -9 of the launcher', stop: async ({ folder }) => kill(await findProcess(folder, /scripts\/run\.mjs/), 'SIGKILL') },
]

for (const { name, stop } of endings) {
  test(`test: ${name} during the tests leaves nothing behind`, async (t) => {
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

test('test: kill -9 of the runner leaves no process, and the next run removes its folder', async (t) => {
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

test('test: files of one entry run one after the other, and each test ends with its teardowns before the next', async (t) => {
  const project = createProject()
  t.teardown(project.remove)
  const at = (...path: string[]) => join(project.folder, 'test', ...path)
  for (const folder of ['entries', 'support']) mkdirSync(at(folder), { recursive: true })
  copy(join(import.meta.dirname, '..', 'support', 'one-at-a-time.ts'), at('support', 'one-at-a-time.ts'))
  const file = (name: string) => `
    import { setTimeout } from 'node:timers/promises'
    import declare from 'ava'
    for (const title of ['first', 'second']) {
      declare('${name}: ' + title, async (t) => {
        t.teardown(() => console.log('${name}: ' + title + ' ends'))
        console.log('${name}: ' + title + ' begins')
        await setTimeout(title === 'first' ? 50 : 0)
        if (title === 'second' && '${name}' === 'a') t.fail()
        t.pass()
      })
    }
  `
  writeFileSync(at('a.test.ts'), file('a'))
  writeFileSync(at('b.test.ts'), file('b'))
  const imported = ['support/one-at-a-time.ts', 'a.test.ts', 'b.test.ts'].map((path) => `import '#test/${path}'\n`)
  writeFileSync(at('entries', 'sample.ts'), imported.join(''))
  const run = project.run('npm test -- sample', { TEST_DATABASE_URL: 'postgres://unused' })
  t.is(await run.ended, 1)
  const tests = ['a: first', 'a: second', 'b: first', 'b: second']
  t.deepEqual(
    run.output().match(/^[ab]: \w+ (?:begins|ends)$/gm),
    tests.flatMap((name) => [`${name} begins`, `${name} ends`]),
  )
  t.regex(run.output(), /✔ b: second/)
  const unknown = project.run('npm test -- nowhere')
  t.is(await unknown.ended, 1)
  t.regex(unknown.output(), /There is no entry 'nowhere'. Entries: sample\n/)
})
