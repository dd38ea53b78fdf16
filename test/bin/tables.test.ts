import test from 'ava'
import { jobs } from '#shared/features.ts'
import { callWith } from '#test/bin/call.ts'
import { formatTable } from '../../bin/table.ts'

const run = async (...words: string[]): Promise<string[]> => (await callWith({}, ...words)).out.trimEnd().split('\n')

test('tables: columns are as wide as their widest cell', (t) => {
  const rows = [
    ['a', 'bb', 'c'],
    ['aaa', null, 1],
  ]
  t.deepEqual(formatTable(rows), ['a    bb  c', 'aaa      1'])
})

test('tables: the table of routes needs no configuration and shows the routes that contain all words', async (t) => {
  const lines = await run('routes', 'get', 'orgId/jobs/')
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
  const lines = (await run('jobs')).slice(1)
  t.deepEqual(lines.map((line) => line.split(/\s+/)[1]).sort(), jobs.map(({ name }) => name).sort())
})
