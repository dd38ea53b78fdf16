import { flowLimits } from '#shared/features/flows/limits.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import type { ComputeBudget } from '#shared/platform/kernel/process/compute-budget.ts'
import { requireJsonSize } from '#shared/platform/kernel/values/json-walk.ts'

/** Returns the output. Throws VALIDATION_ERROR when its JSON exceeds 1 MB. */
export async function checked(output: unknown, budget: ComputeBudget): Promise<unknown> {
  await requireJsonSize(output, flowLimits.outputBytes, tooLarge, budget)
  const bytes = Buffer.byteLength(JSON.stringify(output ?? null))
  if (bytes > flowLimits.outputBytes) throw problem('VALIDATION_ERROR', tooLarge)
  await budget.pause()
  return output
}

const tooLarge = 'the output has more than 1 MB'
