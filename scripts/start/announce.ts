import { setTimeout as delay } from 'node:timers/promises'
import type { Bootstrap } from './bootstrap.ts'
import type { SupervisedProcess } from './supervised-process.ts'

/** Number of exits after which a program counts as unable to start. */
const maxEnds = 5

/** Resolves when the API on this port is ready. Throws if its process keeps ending instead. */
export async function waitUntilReady(port: number, api: SupervisedProcess): Promise<void> {
  while (!(await isReady(port))) {
    if (api.ends() >= maxEnds) throw new Error('The API does not start: see what it says above.')
    await delay(50)
  }
}

/** The last lines of a start: the address and, on an embedded database, how to use it. */
export function announcement(publicUrl: string, bootstrap: Bootstrap | null, isFirst: boolean, file: string): readonly string[] {
  const where = `Kontor is ready at ${publicUrl} (reference: ${publicUrl}/docs)`
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

async function isReady(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(5_000) })
    await response.body?.cancel()
    return response.ok
  } catch {
    return false
  }
}
