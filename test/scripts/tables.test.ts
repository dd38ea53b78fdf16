import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test from 'ava'
import { formatTable } from '#scripts/table.ts'
import { jobs } from '#shared/features.ts'

const run = async (script: string, ...words: string[]): Promise<string[]> => {
  const path = join(import.meta.dirname, '..', '..', 'scripts', script)
  const { stdout } = await promisify(execFile)(process.execPath, [path, ...words], { env: {} })
  return stdout.trimEnd().split('\n')
}

test('tables: columns are as wide as their widest cell', (t) => {
  const rows = [
    ['a', 'bb', 'c'],
    ['aaa', null, 1],
  ]
  t.is(formatTable(rows), 'a    bb  c\naaa      1')
})

test('tables: the table of routes needs no configuration and shows the routes that contain all words', async (t) => {
  const lines = await run('routes.ts', 'get', '/jobs/')
  t.deepEqual(
    lines.slice(1, -2).map((line) => line.split(/\s+/).slice(0, 3)),
    [
      ['GET', '/v1/orgs/:orgId/jobs/:jobId', 'member'],
      ['GET', '/v1/orgs/:orgId/jobs/:jobId/result', 'member'],
    ],
  )
  t.is(lines.at(-1), '2 routes')
})

test('tables: the table of jobs has a line for each', async (t) => {
  const lines = (await run('jobs.ts')).slice(1)
  t.deepEqual(lines.map((line) => line.split(/\s+/)[1]).sort(), jobs.map(({ name }) => name).sort())
})
