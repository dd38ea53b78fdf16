import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createProject } from '#test/scripts/project.ts'

// Files that share a thread, in a project whose tests write down what they do.

const told = `
import { appendFileSync } from 'node:fs'
export const tell = (what) => appendFileSync('told.txt', what + '\\n')
`

/** Runs these files below `test` in one thread: what they told in which order, and what the run printed. */
async function runTogether(t: ExecutionContext, files: Readonly<Record<string, string>>) {
  const project = createProject()
  t.teardown(project.remove)
  const at = (...path: string[]) => join(project.folder, ...path)
  mkdirSync(at('test'))
  mkdirSync(at('.cache', 'tests'), { recursive: true })
  writeFileSync(at('told.txt'), '')
  writeFileSync(at('test', 'told.ts'), told)
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(at('test', name), `import test from 'ava'\nimport { tell } from '#test/told.ts'\n${text}`)
  }
  const list = JSON.stringify(Object.keys(files))
  const group = join('.cache', 'tests', '01.test.ts')
  writeFileSync(at(group), `import { runSections } from '#scripts/test/sections.ts'\nawait runSections(${list})\n`)
  const run = project.run(`npm test -- ${group}`, { TEST_DATABASE_URL: 'postgres://unused' })
  const code = await run.ended
  return { code, output: run.output(), told: readFileSync(at('told.txt'), 'utf8').trim().split('\n') }
}

test('sections: files of one thread run one after the other, each with its hooks, what is serial before what is not', async (t) => {
  const file = (name: string) => `
    test.before(() => tell('${name}: before'))
    test.after.always(() => tell('${name}: after'))
    test.afterEach.always(() => tell('${name}: after each'))
    test('at once', async (t) => {
      t.teardown(() => tell('${name}: torn down'))
      await new Promise((resolve) => setTimeout(resolve, 20))
      tell('${name}: at once')
      t.pass()
    })
    test.serial('in order', (t) => {
      tell('${name}: in order')
      t.pass()
    })
    test.skip('skipped', (t) => t.fail())
  `
  const { code, output, told } = await runTogether(t, { 'a.test.ts': file('a'), 'b.test.ts': file('b') })
  t.is(code, 0, output)
  t.regex(output, /✔ a › in order\n.*✔ a › at once.*\n.*✔ b › in order/)
  t.regex(output, /\n4 passed, 0 failed, 2 skipped\n/)
  const steps = ['before', 'in order', 'after each', 'at once', 'torn down', 'after each', 'after']
  t.deepEqual(told, [...steps.map((step) => `a: ${step}`), ...steps.map((step) => `b: ${step}`)])
})

test('sections: what fails in one file, in a test or in a hook, is counted, and the next file runs all the same', async (t) => {
  const one = `test('passes', (t) => t.pass())\n`
  const { code, output } = await runTogether(t, {
    'before.test.ts': `test.before(() => { throw new Error('not opened') })\n${one}`,
    'fails.test.ts': `test('fails', (t) => t.fail())\n${one}`,
    'after.test.ts': `test.after.always(() => { throw new Error('not closed') })\n${one}`,
    'last.test.ts': one,
  })
  t.is(code, 1)
  for (const line of ['not opened', 'not closed', '✔ fails › passes', '✘ [fail]: fails › fails', '✔ last › passes']) {
    t.true(output.includes(line), `${line}\n${output}`)
  }
  t.regex(output, /\n3 passed, 3 failed\n/)
})
