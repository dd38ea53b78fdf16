import { changeFunction, createFunction } from '#shared/features/functions/definitions/functions.ts'
import { saveFunctionJob } from '#shared/features/functions/jobs.ts'
import { problem } from '#shared/platform/kernel/errors.ts'
import { defineHandler } from '#workers/platform/jobs/handler.ts'

export default defineHandler(saveFunctionJob, async ({ payload: { functionId, values }, resources, commit }) => {
  const wrong = values.source === undefined ? null : await resources.functions.sandboxAt(0).checkSource(values.source)
  if (wrong)
    throw problem('VALIDATION_ERROR', `source, line ${wrong.line}, column ${wrong.column}: ${wrong.message}${adviceOn(wrong.message)}`)
  return commit(async (inside) => ({
    result: functionId === null ? await createFunction(inside, values) : await changeFunction(inside, functionId, values),
  }))
})

/** For sources that are written as modules: V8 only says that it did not expect the word. */
const adviceOn = (message: string): string =>
  /'export'|import statement|'import\.meta'/.test(message)
    ? '; a function is a script and no module: define `async function handler(input) { … }` at top level, without import and export'
    : ''
