import { calendarDue } from '#shared/calendar/due.ts'
import { chores } from '#shared/chores.ts'
import { choresDue } from '#shared/due/chores.ts'
import type { DueKind } from '#shared/due/kind.ts'
import { restsDue } from '#shared/due/rest.ts'
import { schedulesDue, waitsDue } from '#shared/flows/jobs.ts'
import { mailDue } from '#shared/mail/jobs.ts'
import { paymentsDue } from '#shared/payments/due.ts'

/** The chores of the house. */
export const choreKind = choresDue(chores)

/** Every kind of work that falls due. A room joins with its own. */
export const dueKinds: readonly DueKind<unknown>[] = [choreKind, ...restsDue, calendarDue, mailDue, ...paymentsDue, schedulesDue, waitsDue]
