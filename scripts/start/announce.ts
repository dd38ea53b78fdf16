import { setTimeout as delay } from 'node:timers/promises'
import type { Bootstrap } from './bootstrap.ts'
import type { SupervisedProcess } from './supervised-process.ts'

/** Number of exits after which a program counts as unable to start. */
const maxEnds = 5

/** Resolves when the API on this port, and on HOST if it is set, is ready. Throws if its process keeps ending instead. */
export async function waitUntilReady(port: number, host: string | undefined, api: SupervisedProcess): Promise<void> {
  const isOne = host !== undefined && !['0.0.0.0', '::'].includes(host)
  const name = isOne ? (host.includes(':') ? `[${host}]` : host) : '127.0.0.1'
  while (!(await isReady(`http://${name}:${port}/readyz`))) {
    if (api.ends() >= maxEnds) throw new Error('The API does not start: see what it says above.')
    await delay(50)
  }
}

/** The last lines of a start: the address and, on an embedded database, how to use it. */
export function announcement(publicUrl: string, bootstrap: Bootstrap | null, isFirst: boolean, file: string): readonly string[] {
  const where = `Kontor is ready at ${publicUrl} (guide: ${publicUrl}/docs)`
  if (!bootstrap) return [where]
  const key = `Access key: ${bootstrap.api_key}`
  const call = `Try it: ${exampleCall(bootstrap)}`
  const more = `The workspace "Demo", its owner and password: ${file}`
  return isFirst ? [where, key, call, more] : [where, call]
}

// A command line that lists records of the demo workspace.
function exampleCall({ base_url, org_id, api_key }: Bootstrap): string {
  return `curl -H 'Authorization: Bearer ${api_key}' ${base_url}/orgs/${org_id}/records/accounts`
}

/** Whether a process answers at the address of its readiness. */
export async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
