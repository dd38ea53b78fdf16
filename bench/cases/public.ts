import type { Case, Group } from '#bench/case.ts'
import { sender } from '#bench/client.ts'
import { load, type Shot } from '#bench/load.ts'
import { nth } from '#bench/race.ts'
import { fromAnywhere, startProxiedApi } from '#bench/servers/proxied-api.ts'

/**
 * Requests of visitors: content compared with a bare route that counts the visitor's request and reads the document, a submission compared
 * with a record created by key.
 */
export const publicSurfaces: Group = {
  name: 'public',
  cases: async (bench) => {
    const { loaded, seconds, connections } = bench
    const { workspaceId, token } = loaded
    const api = await startProxiedApi(bench)
    const call = sender(api.url, loaded)
    const key = `bench-${Date.now()}`
    await call('POST', '/iam/groups', {
      name: key,
      policy: [{ effect: 'allow', actions: ['content:deliver', 'forms:submit'] }],
      is_anonymous: true,
    })
    const site = await call('POST', '/sites', { key, name: 'Bench', published: true })
    const pages = Array.from({ length: 100 }, (_, index) => `page-${index}`)
    for (const page of pages) {
      await call('PUT', `/sites/${site.id}/content/${page}`, { title: page, body: 'x'.repeat(2_000), published: true })
    }
    const field = { key: 'name', label: 'Name', type: 'string', required: true }
    await call('POST', '/forms', { key, name: 'Bench', fields: [field], published: true })
    const as = (shot: Omit<Shot, 'token'>) => () => load({ url: api.url, connections, seconds }, { token, ...shot })
    const body = JSON.stringify({ values: { name: 'Somebody' } })
    const read = (index: number) => ({ path: `/content/${workspaceId}/${key}/${nth(pages, index)}`, headers: fromAnywhere(index) })
    const cases: Case[] = [
      {
        name: 'content, get',
        unit: 'requests/s',
        floor: () => load({ url: bench.floorUrl, connections, seconds }, { token, method: 'GET', make: read }),
        kontor: as({ method: 'GET', make: read }),
        aims: { ratioAtLeast: 0.7 },
      },
      {
        name: 'form, submit',
        unit: 'requests/s',
        floor: as({ method: 'POST', make: () => ({ path: `/v1/orgs/${workspaceId}/records/locations`, body }) }),
        kontor: as({ method: 'POST', make: (index) => ({ path: `/forms/${workspaceId}/${key}`, body, headers: fromAnywhere(index) }) }),
        aims: { ratioAtLeast: 0.5 },
      },
    ]
    return cases
  },
}
