import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { eventually, longestWaitMs } from '#test/support/eventually.ts'
import { copyProject, kill, nothingRunsIn, processesIn, type Run } from './project.ts'
import { keptPort, start } from './started.ts'

type Bootstrap = { base_url: string; public_url: string; org_id: string; api_key: string }

/** Reads the records of the demo workspace with the key of the bootstrap file, or creates one. */
async function call(bootstrap: Bootstrap, values?: Record<string, unknown>): Promise<{ status: number; text: string }> {
  const headers = { Authorization: `Bearer ${bootstrap.api_key}`, 'Content-Type': 'application/json' }
  const body = values ? { method: 'POST', body: JSON.stringify({ values }) } : {}
  const response = await fetch(`${bootstrap.base_url}/orgs/${bootstrap.org_id}/records/locations`, { headers, ...body })
  return { status: response.status, text: await response.text() }
}

test('kontor: the bootstrap file’s key calls the API, every worker is healthy, and records survive kill -9 of all processes', async (t) => {
  const project = copyProject()
  t.teardown(() => project.remove())
  const file = join(project.folder, '.data', 'bootstrap.json')
  const port = await keptPort()
  const first = project.run('npm start', { PORT: port })
  await answers(`http://127.0.0.1:${port}/healthz`, first)
  const bootstrap: Bootstrap = JSON.parse(readFileSync(file, 'utf8'))
  t.is(bootstrap.public_url, `http://localhost:${port}`)
  t.is(bootstrap.base_url, `${bootstrap.public_url}/v1`)
  t.deepEqual(await call(bootstrap), { status: 200, text: '{"data":{"records":[]}}' })
  await first.says(/Try it: curl/)
  t.true(first.output().includes(`Access key: ${bootstrap.api_key}`))
  const [, workerPort] = await first.says(/^workers .*"pools":\["functions","flows","data","mail","webhooks","schedule"\].*"port":(\d+)/m)
  t.is((await fetch(`http://127.0.0.1:${workerPort}/readyz`)).status, 200)

  t.is((await call(bootstrap, { name: 'Kept' })).status, 201)
  for (const { pid } of processesIn(project.folder)) kill(pid, 'SIGKILL')
  await nothingRunsIn(project.folder)
  const second = await start(project, { PORT: port })
  t.true((await call(bootstrap)).text.includes('Kept'))
  second.run.interrupt()
  t.is(await second.run.ended, 0)
  await nothingRunsIn(project.folder)
})

/** Resolves when a server listens at this address: a first start unpacks PostgreSQL and creates a cluster. Fails when its run has ended instead. */
async function answers(url: string, run: Run): Promise<void> {
  let hasEnded = false
  void run.ended.then(() => {
    hasEnded = true
  })
  await eventually(() => {
    if (hasEnded) throw new Error(`It ended before it listened:\n${run.output()}`)
    return fetch(url).catch(() => undefined)
  }, longestWaitMs)
}
