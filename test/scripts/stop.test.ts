import test from 'ava'
import { createProject, findProcess, kill, nothingRunsIn, type Project, processesIn, type Run } from './project.ts'
import { read, start, write, writeUntilRefused } from './started.ts'

// However a run ends, it leaves no process, and the next run has all acknowledged notes.

const endings: readonly { name: string; stop: (project: Project, run: Run) => Promise<void> }[] = [
  { name: 'Ctrl-C', stop: async (_, run) => run.interrupt() },
  { name: 'SIGTERM of npm', stop: async (_, run) => run.kill('SIGTERM') },
  { name: 'kill -9 of npm', stop: async (_, run) => run.kill('SIGKILL') },
  { name: 'kill -9 of the launcher', stop: async ({ folder }) => kill(await findProcess(folder, /scripts\/run\.mjs/), 'SIGKILL') },
  { name: 'kill -9 of the supervisor', stop: async ({ folder }) => kill(await findProcess(folder, /scripts\/start\.ts/), 'SIGKILL') },
  {
    name: 'kill -9 of everything',
    stop: async ({ folder }) => {
      for (const { pid } of processesIn(folder)) kill(pid, 'SIGKILL')
    },
  },
]

for (const { name, stop } of endings) {
  test(`stop: ${name}: the next start takes over at once with every acknowledged record, and no process is left`, async (t) => {
    const project = createProject()
    t.teardown(() => project.remove())
    const first = await start(project)
    await write(first.url)
    const acknowledged = writeUntilRefused(first.url)
    await stop(project, first.run)
    const second = await start(project, { PORT: new URL(first.url).port })
    t.true(Number(await read(second.url, '/notes')) >= 1 + (await acknowledged))

    await first.run.ended
    await stop(project, second.run)
    await second.run.ended
    await nothingRunsIn(project.folder)
  })
}

test('stop: Ctrl-C stops the API, then the workers, then the database, and npm prints nothing more', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  const { run } = await start(project)
  await run.says(/worker on/)
  run.interrupt()
  t.is(await run.ended, 0)
  const [, after = ''] = run.output().split('Stopping\n')
  t.is(after, 'api       | api stopped\nfunctions | worker stopped\n')
})

test('stop: Ctrl-C at any moment of a start leaves nothing that hinders the next', async (t) => {
  const project = createProject()
  t.teardown(() => project.remove())
  for (const moment of [/kontor@/, /\.data/, /worker on/, /listening/]) {
    const run = project.run('npm start', { PORT: '0' })
    if (moment.source.includes('data')) await findProcess(project.folder, /postgres/)
    else await run.says(moment)
    run.interrupt()
    await run.ended
    await nothingRunsIn(project.folder)
  }
  const { url } = await start(project)
  await write(url)
  t.pass()
})
