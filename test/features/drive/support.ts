import type { Client } from '#test/support/client.ts'
import type { Org } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'

/** The calls of one caller in one space. */
export function spaceOf(client: Client, org: Pick<Org, 'path'>, id: string) {
  const path = `${org.path}/drive/buckets/${id}`
  const query = (values: object) =>
    new URLSearchParams(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]))).toString()
  return {
    path,
    put: (key: string, bytes: string | Uint8Array = 'text', type = 'text/plain', headers?: Record<string, string>) =>
      client.post(`${path}/objects`, formOf(key, bytes, type), headers),
    list: (values: object = {}) => client.get(`${path}/objects?${query(values)}`),
    download: (key: string, headers?: Record<string, string>) => client.get(`${path}/download?${query({ key })}`, headers),
    remove: (key: string) => client.delete(`${path}/objects?${query({ key })}`),
    makeFolder: (key: string) => client.post(`${path}/folders`, { key }),
    move: (from: string, to: string) => client.post(`${path}/move`, { from, to }),
    shares: () => client.get(`${path}/shares`),
    share: (body: object) => client.post(`${path}/shares`, body),
    /** Every key and folder below a prefix, page by page. */
    all: async (prefix = '', limit = 200): Promise<{ folders: string[]; keys: string[] }> => {
      const found = { folders: [] as string[], keys: [] as string[] }
      let cursor: string | undefined
      do {
        const { data } = await client.get(`${path}/objects?${query({ prefix, limit, ...(cursor ? { cursor } : {}) })}`)
        found.folders.push(...data.folders.map((folder: { prefix: string }) => folder.prefix))
        found.keys.push(...data.objects.map((object: { key: string }) => object.key))
        cursor = data.cursor
      } while (cursor)
      return found
    },
  }
}

/** A form that uploads a file, with the key before it. */
export function formOf(key: string | null, bytes: string | Uint8Array, type = 'text/plain', name = 'upload.bin'): FormData {
  const form = new FormData()
  if (key !== null) form.append('key', key)
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>], { type }), name)
  return form
}

/** The ids of the caller's main drive and of the shared space. */
export async function firstSpaces(client: Client, { path }: Pick<Org, 'path'>): Promise<{ main: string; shared: string }> {
  const { data } = await client.get(`${path}/drive/buckets`)
  const of = (type: string): string => data.buckets.find((space: { type: string }) => space.type === type)?.id ?? ''
  return { main: of('user'), shared: of('org') }
}

/** Makes a space of the team. */
export const makeSpace = async (client: Client, { path }: Pick<Org, 'path'>, key: string): Promise<string> =>
  (await client.post(`${path}/drive/buckets`, { key, name: key, type: 'custom' })).data.id

/** Status and code of a refusal, as in `404 NOT_FOUND`; only the status of a success. */
export const outcomeOf = ({ status, body }: Answer): string => (status < 400 ? String(status) : `${status} ${body?.error?.code}`)
