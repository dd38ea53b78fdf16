import type { Permission } from '#shared/core/policy/permissions.ts'
import type { Seen } from '#test/core/events/reading.ts'
import { admitVisitors, sendPage } from '#test/features/forms/making.ts'
import { makeLink } from '#test/features/payments/place.ts'
import { expireLinks, letExpiryDue } from '#test/features/payments/rows.ts'
import type { MailServer } from '#test/platform/mail/smtp.ts'
import { made } from '#test/support/made.ts'
import { mailedToken } from '#test/support/mailbox.ts'
import type { Place } from '#test/support/things.ts'

/** What a rule on the permission has to name: a key or id, null for the workspace, undefined for a thing that is gone and whose key is not known. */
export type Resource = string | null | undefined

/** What rules give to a caller. */
export interface Rights {
  /** Whether a rule allows a permission on a resource and none denies it. */
  readonly holds: (permission: Permission, resource: Resource) => boolean
  /** Whether a rule denies it. */
  readonly isDenied: (permission: Permission, resource: Resource) => boolean
  readonly callerId: string
}

/** A place with a mail server that its connections may name. */
export interface Scene extends Place {
  readonly mail: MailServer
}

export interface EventCase {
  readonly types: readonly string[]
  /** Makes events of all these types. Every text that it writes holds the secret of the place. */
  readonly happen: (scene: Scene) => Promise<EventsMade>
  /** Whether events show texts by contract, such as values of records. */
  readonly showsTexts?: true
}

/** Events that were made, and who reads them by the contract (docs/contract/events.md#types). */
export interface EventsMade {
  readonly permission: Permission
  readonly isReadBy: (event: Seen, rights: Rights) => boolean
  /** What a caller who reads an event is shown of it, where that is less than its owner sees. */
  readonly shownTo?: (event: Seen, rights: Rights) => Seen
  /** A resource that rules can name; left out where only rules on everything count. */
  readonly resource?: string
  /** Deletes what the events are about; those who may read them then are told by `isReadBy` from then on. */
  readonly remove?: () => Promise<unknown>
}

/** Events that take a permission on the whole workspace. */
export const ofWorkspace = (permission: Permission): EventsMade => ({ permission, isReadBy: (_, { holds }) => holds(permission, null) })

/** The words of the secret of a place that may stand in addresses and keys. */
export const needleOf = ({ secret }: Pick<Place, 'secret'>): string => secret.replace('secret ', '')

/** Cases of the core, and of features whose events take a single permission. */
export const firstCases: readonly EventCase[] = [
  {
    types: ['records.created', 'records.updated', 'records.deleted'],
    showsTexts: true,
    happen: async ({ org: { owner, path }, keys, things, secret }) => {
      const id = await things.record()
      const address = `${path}/records/${keys.type}/${id}`
      await made(owner.put(`${address}/values`, { values: { [keys.name]: `${secret} again` } }))
      await made(owner.delete(address))
      return {
        permission: 'records:read',
        resource: keys.type,
        isReadBy: ({ subject }, { holds }) => holds('records:read', subject.object_type),
      }
    },
  },
  {
    types: ['roles.changed'],
    happen: async ({ org: { owner, path }, things, secret }) => {
      const role = await things.role()
      await made(owner.put(`${path}/iam/groups/${role}`, { name: `${secret} again`, policy: [] }))
      await made(owner.delete(`${path}/iam/groups/${role}`))
      return ofWorkspace('iam:manage_groups')
    },
  },
  {
    types: ['members.joined', 'members.left'],
    happen: async (place) => {
      const { world, org, secret } = place
      const email = `joins-${needleOf(place)}@example.com`
      await made(org.owner.post(`${org.path}/members`, { email, role_ids: [] }))
      const token = await mailedToken(world, email)
      const { user } = (await world.visitor.post('/v1/auth/accept-invite', { token, name: secret, password: 'a password of mine' })).data
      await made(org.owner.delete(`${org.path}/members/${user.id}`))
      return ofWorkspace('iam:manage_members')
    },
  },
  {
    types: ['functions.failed'],
    happen: async ({ world, org: { owner, path }, secret }) => {
      const source = `const handler = () => { throw new Error('${secret}') }`
      const { id } = await made(owner.post(`${path}/functions`, { name: secret, source }))
      await made(owner.post(`${path}/functions/${id}/invoke`, { input: secret }))
      await world.drain()
      return {
        permission: 'functions:read',
        resource: id,
        isReadBy: ({ subject }, { holds }) => holds('functions:read', subject.function),
        remove: () => made(owner.delete(`${path}/functions/${id}`)),
      }
    },
  },
  {
    types: ['ledger.entry.posted', 'ledger.entry.reversed', 'ledger.sealed'],
    happen: async ({ org: { owner, path }, things, secret }) => {
      const [debit, credit] = [await things.account(), await things.account()]
      const lines = [
        { account_id: debit, debit: '5', memo: secret },
        { account_id: credit, credit: '5' },
      ]
      const entry = await made(owner.post(`${path}/accounting/entries`, { memo: secret, lines }))
      await made(owner.post(`${path}/accounting/entries/${entry.id}/reverse`, { memo: secret }))
      await made(owner.post(`${path}/accounting/seals`, {}))
      return ofWorkspace('accounting:read')
    },
  },
  {
    types: ['payments.link.paid', 'payments.link.cancelled', 'payments.link.expired'],
    happen: async (place) => {
      const { world, org, things, secret } = place
      const connection = await things.connection()
      const link = () => makeLink(org, connection, { description: secret, customer_name: secret })
      const [paid, cancelled, expired] = [await link(), await link(), await link()]
      const page = new URL(paid.short_url).pathname
      const form_token = /name="form_token" value="([^"]+)"/.exec((await world.visitor.get(page)).text)?.[1] ?? ''
      await sendPage(world, page, { form_token, name: secret, email: `pays-${needleOf(place)}@example.com`, action: 'pay' })
      await made(org.owner.post(`${org.path}/payments/links/${cancelled.id}/cancel`))
      await expireLinks(world.db, expired)
      await letExpiryDue(world.db, expired.id)
      await world.drain()
      return ofWorkspace('payments:read')
    },
  },
  {
    types: ['forms.submitted'],
    happen: async (place) => {
      const { world, org, things, secret } = place
      const form = await things.form()
      await admitVisitors({ ...world, org })
      await sendPage(world, `/f/${org.id}/${form.key}`, { email: `fills-${needleOf(place)}@example.com` })
      await world.drain()
      let isThere = true
      return {
        permission: 'forms:manage',
        resource: form.key,
        isReadBy: (_, { holds }) => holds('forms:manage', isThere ? form.key : undefined),
        remove: async () => {
          await made(org.owner.delete(`${org.path}/forms/${form.id}`))
          isThere = false
          return secret
        },
      }
    },
  },
]
