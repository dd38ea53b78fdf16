import { createRole } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

/** A website of a workspace. */
export interface Made {
  readonly id: string
  /** `/content/{orgId}/{siteKey}`. */
  readonly open: string
  /** `…/sites/{siteId}/content`. */
  readonly inside: string
}

/** Lets visitors have the content of these websites, of all unless said. */
export const admitVisitors = (w: World, resources?: readonly string[]) =>
  createRole(w, w.org, [{ effect: 'allow', actions: ['content:deliver'], ...(resources ? { resources } : {}) }], true)

/** Makes a website, published unless said, as the owner. */
export async function makeSite(w: World, key = 'shop', published = true): Promise<Made> {
  const { status, text, data } = await w.org.owner.post(`${w.org.path}/sites`, { key, name: 'Shop', published })
  if (status !== 201) throw new Error(text)
  return { id: data.id, open: `/content/${w.org.id}/${key}`, inside: `${w.org.path}/sites/${data.id}/content` }
}

/** Puts a published document at a path. */
export const putDocument = (w: World, { inside }: Made, path: string, more: object = {}): Promise<Answer> =>
  w.org.owner.put(`${inside}/${path}`, { title: 'Title', body: 'Body', published: true, ...more })

/** Puts a file at a path. */
export const putFile = (w: World, at: string, bytes: string | Uint8Array, type: string): Promise<Answer> =>
  w.org.owner.put(at, bytes, { 'content-type': type })
