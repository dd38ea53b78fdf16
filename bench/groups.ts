import type { Group } from '#bench/case.ts'
import { access } from '#bench/cases/access.ts'
import { accounting } from '#bench/cases/accounting.ts'
import { calendar } from '#bench/cases/calendar.ts'
import { csv } from '#bench/cases/csv.ts'
import { drain } from '#bench/cases/drain.ts'
import { drive } from '#bench/cases/drive.ts'
import { fairness } from '#bench/cases/fairness.ts'
import { flows } from '#bench/cases/flows.ts'
import { functions } from '#bench/cases/functions.ts'
import { indexes } from '#bench/cases/indexes.ts'
import { jobs } from '#bench/cases/jobs.ts'
import { living } from '#bench/cases/living.ts'
import { messages } from '#bench/cases/messages.ts'
import { payments } from '#bench/cases/payments.ts'
import { publicSurfaces } from '#bench/cases/public.ts'
import { queues } from '#bench/cases/queues.ts'
import { recompute } from '#bench/cases/recompute.ts'
import { records } from '#bench/cases/records.ts'
import { shapes } from '#bench/cases/shapes.ts'
import { size } from '#bench/cases/size.ts'

/** All cases, in the order in which they are measured: those that only read come first, since the others make tables grow. */
export const groups: readonly Group[] = [
  size,
  access,
  accounting,
  payments,
  records,
  living,
  csv,
  drive,
  calendar,
  jobs,
  drain,
  fairness,
  messages,
  queues,
  publicSurfaces,
  recompute,
  functions,
  flows,
  indexes,
  shapes,
]
