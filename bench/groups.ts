import type { Group } from '#bench/case.ts'
import { access } from '#bench/cases/access.ts'
import { answers } from '#bench/cases/core/answers.ts'
import { csv } from '#bench/cases/core/csv.ts'
import { indexes } from '#bench/cases/core/indexes.ts'
import { living } from '#bench/cases/core/living.ts'
import { recompute } from '#bench/cases/core/recompute.ts'
import { records } from '#bench/cases/core/records.ts'
import { shapes } from '#bench/cases/core/shapes.ts'
import { fairness } from '#bench/cases/fairness.ts'
import { accounting } from '#bench/cases/features/accounting.ts'
import { calendar } from '#bench/cases/features/calendar.ts'
import { drive } from '#bench/cases/features/drive.ts'
import { flows } from '#bench/cases/features/flows.ts'
import { functions } from '#bench/cases/features/functions.ts'
import { messages } from '#bench/cases/features/messages.ts'
import { payments } from '#bench/cases/features/payments.ts'
import { queues } from '#bench/cases/features/queues.ts'
import { drain } from '#bench/cases/platform/drain.ts'
import { jobs } from '#bench/cases/platform/jobs.ts'
import { publicSurfaces } from '#bench/cases/public.ts'
import { size } from '#bench/cases/size.ts'

/** All groups, in the order of measurement: reading ones first, because the others make tables grow. */
export const groups: readonly Group[] = [
  size,
  access,
  accounting,
  payments,
  answers,
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
