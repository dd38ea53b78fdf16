import type { Scope } from '#shared/core/scope/scope.ts'
import { countMails } from '#shared/features/calendar/guests/store.ts'

type MailKind = 'calendar' | 'booking'

/** Mails per UTC day: of one workspace, and to one address from all workspaces (docs/contract/calendar.md#limits-of-mail). */
const caps: Readonly<Record<MailKind, { readonly workspace: number; readonly recipient: number }>> = {
  calendar: { workspace: 2_000, recipient: 50 },
  booking: { workspace: 500, recipient: 10 },
}

/**
 * Takes daily mail quota for these addresses and returns for each whether its mail may be sent. The quota counts when the transaction
 * commits; concurrent callers wait for each other. A mail of kind `booking` counts against the `calendar` quota too.
 */
export async function takeMailQuota(scope: Scope, emails: readonly string[], kind: MailKind): Promise<boolean[]> {
  let allowed = emails.map(() => true)
  for (const quotaKind of kind === 'booking' ? (['calendar', 'booking'] as const) : (['calendar'] as const)) {
    allowed = await takeQuotaOfKind(scope, emails, allowed, quotaKind)
  }
  return allowed
}

async function takeQuotaOfKind(scope: Scope, emails: readonly string[], wanted: readonly boolean[], kind: MailKind): Promise<boolean[]> {
  const { db, workspace } = scope
  const day = scope.now().toISOString().slice(0, 10)
  const subjects = emails.map((email) => `to ${email.toLowerCase()}`)
  const counts = [
    ...Map.groupBy(
      subjects.filter((_, index) => wanted[index]),
      (subject) => subject,
    ),
  ].map(([subject, all]) => ({ subject, mails: all.length }))
  if (counts.length === 0) return [...wanted]
  const remaining = new Map(
    (await countMails(db, day, kind, counts, caps[kind].recipient)).map(({ subject, granted }) => [subject, granted]),
  )
  const withinRecipientCap = subjects.map((subject, index) => {
    const count = remaining.get(subject) ?? 0
    if (!wanted[index] || count === 0) return false
    remaining.set(subject, count - 1)
    return true
  })
  const mails = withinRecipientCap.filter((isWithin) => isWithin).length
  if (mails === 0) return withinRecipientCap
  const [ofWorkspace] = await countMails(db, day, kind, [{ subject: `of ${workspace.id}`, mails }], caps[kind].workspace)
  let workspaceMails = ofWorkspace?.granted ?? 0
  return withinRecipientCap.map((isWithin) => isWithin && workspaceMails-- > 0)
}
