import type { Readable } from 'node:stream'
import type { ExecutionContext } from 'ava'
import { Client } from '#test/support/client.ts'
import { startProcess } from '#test/support/process.ts'
import type { World } from '#test/support/world.ts'

/** Starts another API process on a world's database, on a free port, and returns a visitor of it. It ends with the test. */
export async function startApiProcess(
  t: Pick<ExecutionContext, 'teardown'>,
  w: Pick<World, 'config'>,
  environment: Readonly<Record<string, string>> = {},
  umask?: string,
): Promise<Client> {
  const settings = { PORT: '0', LOG_LEVEL: 'info', TRUST_PROXY: String(w.config.trustProxy), ...environment }
  const child = await startProcess(t, w, 'api', settings, umask)
  return new Client(`http://127.0.0.1:${await portIn(child.stdout)}`, null)
}

/** The port in the line that reports that the API is ready. */
async function portIn(output: Readable): Promise<number> {
  let said = ''
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    said += String(chunk)
    const [, port] = /"port":(\d+).*"api ready"/.exec(said) ?? []
    if (port) {
      output.resume()
      return Number(port)
    }
  }
  throw new Error(`The API ended before it was ready: ${said}`)
}
