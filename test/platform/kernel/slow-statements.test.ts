import test from 'ava'
import { runMeasured } from '#shared/platform/db/statements/slow-statements.ts'
import type { Logger } from '#shared/platform/kernel/log.ts'
import { currentNames, nameWorkspace, runNamed } from '#shared/platform/kernel/process/current-request.ts'

const statement = { name: 'find_things', text: 'select *\n   from things where name = $1', values: ['a secret'] }
const textInOneLine = 'select * from things where name = $1'

/** Logged lines of a statement that takes this many milliseconds. */
async function toldOf(ms: number, run: () => Promise<object[]>): Promise<object[]> {
  const warnings: object[] = []
  const log = { warn: (line: object, message: string) => warnings.push({ ...currentNames(), ...line, message }) } as unknown as Logger
  const work = async () => {
    await later()
    nameWorkspace('a-workspace')
    return runMeasured({ ms, log }, null, statement, run)
  }
  await runNamed('a-request', undefined, work).catch(() => undefined)
  return warnings
}

const later = () => new Promise<void>((resolve) => setTimeout(resolve, 5))

test('slow statements: a slow statement is logged with its text, request and workspace, without its values', async (t) => {
  const [line, ...others] = await toldOf(1, async () => {
    await later()
    return [{}, {}]
  })
  t.deepEqual(others, [])
  t.like(line, {
    message: 'slow statement',
    statement: 'find_things',
    text: textInOneLine,
    rows: 2,
    request_id: 'a-request',
    workspace_id: 'a-workspace',
  })
  t.true((line as { ms: number }).ms >= 1)
  t.notRegex(JSON.stringify(line), /a secret/)
})

test('slow statements: a slow statement that fails is logged without rows', async (t) => {
  const failing = async () => {
    await later()
    throw new Error('cancelled')
  }
  t.like((await toldOf(1, failing))[0], { statement: 'find_things', rows: undefined })
})

test('slow statements: a quick statement is not logged', async (t) => {
  t.deepEqual(await toldOf(60_000, async () => []), [])
})

test('slow statements: a statement that waited for a database that is away is not logged', async (t) => {
  const lines = await toldOf(1, async () => {
    await later()
    throw new Error('Connection terminated unexpectedly')
  })
  t.deepEqual(lines, [])
})
