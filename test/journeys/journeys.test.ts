import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { openNames, stepsOf } from '#test/journeys/page.ts'
import { listening } from '#test/support/listening.ts'
import { scopeOf } from '#test/support/scope.ts'
import { world } from '#test/support/world.ts'
import { createDemoBooks } from '../../bin/ledger/demo-books.ts'

const folder = new URL('./', import.meta.url)
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))
const read = (name: string) => readFile(new URL(name, folder), 'utf8')

/** A Tuesday, since the pages name days and hours. */
const start = new Date('2026-12-01T09:00:00Z')

test('journeys: the README links every journey', async (t) => {
  const readme = await readFile(new URL('../../README.md', folder), 'utf8')
  for (const name of pages) t.true(readme.includes(`(test/journeys/${name})`), name)
})

// In a workspace with the books of Demo, as readers use.
for (const name of pages) {
  test(`journeys: the commands of ${name} return the answers that it shows`, async (t) => {
    let now = start
    const w = await world(await listening(), undefined, () => now)
    t.teardown(w.close)
    await createDemoBooks(await scopeOf(w, w.org))
    const page = await read(name)
    const [, orgId = ''] = /^ORG=.*\/([0-9a-f-]{36})$/m.exec(page) ?? []
    const names = openNames({
      'http://localhost:3000': w.config.publicUrl,
      [orgId]: w.org.id,
      'kt_…': w.org.owner.token ?? '',
      '.data/mail': join(w.config.dataDir, 'mail'),
    })
    const assigned: string[] = []
    for (const step of stepsOf(page)) {
      await w.drain()
      if ('now' in step) {
        now = step.now
        continue
      }
      const command = names.inWorld(step.command)
      if (/^[A-Z]+=/.test(command)) assigned.push(command)
      const { stdout } = await promisify(execFile)('bash', ['-c', [...assigned, command].join('\n')])
      // Lines of a mail end with CR LF.
      const output = stdout.replaceAll('\r', '')
      if (step.answer === '') t.notRegex(output, /^\{"error"/, step.command)
      else t.true(names.learn(step.answer, output), `${step.command}\n${output}\n\n${step.answer}`)
    }
  })
}

test('journeys: an answer that differs from the page is found', (t) => {
  const [one, other] = ['01a2028b-c297-77e9-affd-a1e6c2cb405e', '01a2028b-c389-7ee6-a630-52525be8e05b']
  const cases: [string, string, boolean][] = [
    [`{"id":"${one}","a":1}`, `{"id":"${other}","a":1}`, true],
    [`{"id":"${one}","a":1}`, `{"id":"${other}","a":2}`, false],
    [`{"id":"${one}","to":"${one}"}`, `{"id":"${other}","to":"${one}"}`, false],
    [`{"id":"${one}",…}`, `{"id":"${other}","a":{"b":2}}`, true],
    ['{"at":"2026-11-21T01:46:25.163669Z"}', '{"at":"2026-12-01T09:00:00.000000Z"}', true],
    ['{"at":"2026-12-01T09:00:00.000000Z"}', '{"at":"2026-12-01T10:00:00.000000Z"}', false],
  ]
  for (const [shown, actual, expected] of cases) t.is(openNames({}).learn(shown, actual), expected, shown)
  const names = openNames({})
  t.true(names.learn(`{"id":"${one}"}`, `{"id":"${other}"}`))
  t.is(names.inWorld(`QUEUE=${one}`), `QUEUE=${other}`)
  t.false(names.learn(`{"id":"${one}"}`, '{"id":"01a2028b-c38a-7031-a804-49bc9cc8aa32"}'))
  t.deepEqual(stepsOf('```\ncurl a -d \'{\n  b}\'\n{"c":[\n  1]}\nK=x\n```'), [
    { command: "curl a -d '{\n  b}'", answer: '{"c":[1]}' },
    { command: 'K=x', answer: '' },
  ])
})
