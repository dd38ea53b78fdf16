import { choosePort } from '#scripts/ports.ts'
import { eventually } from '#test/support/eventually.ts'
import type { Project, Run } from './project.ts'

/** A project that is ready, and its address. */
export type Started = { readonly run: Run; readonly url: string }

/** A free port below those that the system assigns, so that no connection of another test takes it between two starts. */
export async function keptPort(): Promise<string> {
  return eventually(async () => {
    const port = `${10_000 + Math.floor(Math.random() * 20_000)}`
    const chosen = await choosePort(port, () => undefined).catch(() => null)
    return chosen !== null && port
  })
}

/** Runs `npm start` on a free port until it is ready. */
export async function start(project: Project, env: NodeJS.ProcessEnv = {}): Promise<Started> {
  const run = project.run('npm start', { PORT: await keptPort(), ...env })
  const [, url = ''] = await run.says(/Kontor is ready at (\S+)/)
  return { run, url }
}

/** Makes the stand-in write a note; resolves when the database has it, and fails when it was not acknowledged. */
export async function write(url: string): Promise<void> {
  const response = await fetch(`${url}/notes`, { method: 'POST' })
  if (!response.ok) throw new Error(await response.text())
  await response.text()
}

/** Reads a text from the stand-in, such as the number of notes. */
export async function read(url: string, path: string): Promise<string> {
  return (await fetch(`${url}${path}`)).text()
}

/** Writes notes one after another until one is not acknowledged, and returns the number of acknowledged ones. */
export async function writeUntilRefused(url: string): Promise<number> {
  for (let acknowledged = 0; ; acknowledged += 1) {
    try {
      await write(url)
    } catch {
      return acknowledged
    }
  }
}

/** Writes until a note is acknowledged again. */
export async function writeUntilAccepted(url: string): Promise<void> {
  await eventually(() =>
    write(url).then(
      () => true,
      () => false,
    ),
  )
}
