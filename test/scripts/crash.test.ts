import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { createProject, findProcess, kill, nothingRunsIn, processesIn } from './project.ts'
import { read, start, write, writeUntilAccepted, writeUntilRefused } from './started.ts'

// A killed process restarts while the others continue, and no acknowledged note is lost.

const victims: readonly { name: string; command: RegExp }[] = [
  { name: 'the API', command: /node .*\/api\/main\.ts/ },
  { name: 'the PostgreSQL server', command: /bin\/postgres -D/ },
  { name: 'a PostgreSQL session', command: /^postgres: kontor kontor/ },
]

for (const { name, command } of victims) {
  test(`crash: kill -9 of ${name}: it restarts with every acknowledged record`, async (t) => {
    const project = createProject()
    t.teardown(() => project.remove())
    const { url } = await start(project)
    await write(url)
    const acknowledged = writeUntilRefused(url)
    const victim = await findProcess(project.folder, command)
    kill(victim, 'SIGKILL')
    const written = 1 + (await acknowledged)
    await writeUntilAccepted(url)
    t.true(Number(await read(url, '/notes')) > written)
    t.not(await findProcess(project.folder, command), victim)
  })
}

test('crash: kill -9 of a worker: it restarts under its address, and its children are gone', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const { run } = await start(project)
  const [, port] = await run.says(/worker on (\d+)/)
  const health = async (): Promise<{ pid: number; left: number }> => JSON.parse(await read(`http://127.0.0.1:${port}`, '/healthz'))
  const first = await health()
  kill(first.pid, 'SIGKILL')
  await run.says(/functions ended \(SIGKILL\)[\s\S]*worker on/)
  const second = await health()
  t.not(second.pid, first.pid)
  t.false(processesIn(project.folder).some(({ pid }) => pid === first.left))
})

test('crash: a lock file that names a foreign process does not prevent a start', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const first = await start(project)
  await write(first.url)
  for (const { pid } of processesIn(project.folder)) kill(pid, 'SIGKILL')
  await nothingRunsIn(project.folder)
  const file = join(project.folder, '.data', 'pg', 'postmaster.pid')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^\d+/, String(process.pid)))
  const second = await start(project)
  t.is(await read(second.url, '/notes'), '1')
})
