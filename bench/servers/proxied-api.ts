import type { Bench } from '#bench/case.ts'
import { type Running, startServer } from '#bench/servers/start.ts'

/** Starts an API as behind a proxy, until the group's cases are measured: each request has an address of its own, so no rate limit applies. */
export async function startProxiedApi({ environment, atEnd }: Bench): Promise<Running> {
  const api = await startServer('api', { ...environment, TRUST_PROXY: '1' })
  atEnd(api.stop)
  return api
}

/** The headers of the nth visitor. */
export const fromAnywhere = (index: number): Record<string, string> => ({
  'x-forwarded-for': `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`,
})
