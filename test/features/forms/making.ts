import { createRole } from '#test/support/factories.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { World } from '#test/support/world.ts'

/** A published form of a workspace whose visitors may fill it in. */
export interface Made {
  readonly id: string
  readonly key: string
  /** `/forms/{orgId}/{formKey}`. */
  readonly open: string
  /** `/f/{orgId}/{formKey}`. */
  readonly hosted: string
}

/** Lets visitors read and submit forms. */
export const admitVisitors = (w: World, actions: readonly string[] = ['forms:read', 'forms:submit'], resources?: readonly string[]) =>
  createRole(w, w.org, [{ effect: 'allow', actions, ...(resources ? { resources } : {}) }], true)

const fields = [
  { key: 'email', label: 'Your address', type: 'email', required: true },
  { key: 'note', label: 'Note', type: 'text' },
]

/** Makes a form as the owner. */
export async function makeForm(w: World, more: object = {}, key = 'contact'): Promise<Made> {
  const { status, text, data } = await w.org.owner.post(`${w.org.path}/forms`, { key, name: 'Contact', fields, published: true, ...more })
  if (status !== 201) throw new Error(text)
  return { id: data.id, key, open: `/forms/${w.org.id}/${key}`, hosted: `/f/${w.org.id}/${key}` }
}

/** A record type with the fields of the form, its address unique. */
export async function makeLeads(w: World): Promise<void> {
  const { owner, path } = w.org
  const made: Answer[] = [await owner.post(`${path}/types`, { key: 'leads', label: 'Leads' })]
  for (const field of [
    { key: 'email', label: 'Email', type: 'email', unique: true },
    { key: 'note', label: 'Note', type: 'text' },
  ])
    made.push(await owner.post(`${path}/fields`, { entity_type: 'leads', ...field }))
  const failed = made.find(({ status }) => status !== 201)
  if (failed) throw new Error(failed.text)
}

export const leads = { target: { object_type: 'leads' } }

/** Sends a form's page as a browser does. */
export const sendPage = (w: World, path: string, values: Record<string, string>, headers: Record<string, string> = {}): Promise<Answer> =>
  w.visitor.post(path, new URLSearchParams(values).toString(), { 'content-type': 'application/x-www-form-urlencoded', ...headers })

/** The submissions of a form, newest first, after all resulting work is done. */
export async function submissionsOf(w: World, { id }: Made) {
  await w.drain()
  const { status, text, data } = await w.org.owner.get(`${w.org.path}/forms/${id}/submissions`)
  if (status !== 200) throw new Error(text)
  return data.submissions as readonly { id: string; values: object; record_id: string | null; error: string | null; spam: string | null }[]
}

/** The number of leads. */
export const countLeads = async ({ org }: World): Promise<number> =>
  (await org.owner.get(`${org.path}/records/leads?limit=200`)).data.records.length
