import { chargeSteps, type Evaluate, type Evaluation } from '#shared/platform/formula/evaluation.ts'
import { defineEager, defineLazy, type FunctionTable } from '#shared/platform/formula/functions/definition.ts'
import { toBoolean, toWhole } from '#shared/platform/formula/values/coerce.ts'
import { compareValues } from '#shared/platform/formula/values/compare.ts'
import { errorValues, isError, type Value } from '#shared/platform/formula/values/value.ts'

/**
 * Reads arguments as booleans and returns the first that `decides` accepts, else null. Text other than TRUE and FALSE is skipped; when
 * every argument was skipped the result is #VALUE!.
 */
function scan(args: readonly Evaluate[], run: Evaluation, decides: (truth: boolean) => boolean): Value {
  let hasTruth = false
  for (const arg of args) {
    const value = arg(run)
    const truth = toBoolean(value)
    if (isError(truth)) {
      if (typeof value === 'string') continue
      return truth
    }
    if (decides(truth)) return truth
    hasTruth = true
  }
  return hasTruth ? null : errorValues.value
}

function xor(args: readonly Evaluate[], run: Evaluation): Value {
  let isOdd = false
  const scanned = scan(args, run, (truth) => {
    isOdd = isOdd !== truth
    return false
  })
  return scanned ?? isOdd
}

function ifs(args: readonly Evaluate[], run: Evaluation): Value {
  for (let index = 0; index < args.length; index += 2) {
    const condition = toBoolean(args[index]!(run))
    if (isError(condition)) return condition
    if (condition) return args[index + 1]!(run)
  }
  return errorValues.notAvailable
}

function choose(args: readonly Evaluate[], run: Evaluation): Value {
  const index = toWhole(args[0]!(run))
  if (isError(index)) return index
  return index < 1 || index >= args.length ? errorValues.value : args[index]!(run)
}

function switchOver(args: readonly Evaluate[], run: Evaluation): Value {
  const value = args[0]!(run)
  if (isError(value)) return value
  for (let index = 1; index + 1 < args.length; index += 2) {
    const candidate = args[index]!(run)
    if (isError(candidate)) return candidate
    chargeSteps(run, value)
    chargeSteps(run, candidate)
    if (run.steps < 0) return errorValues.limit
    if (compareValues(value, candidate) === 0) return args[index + 1]!(run)
  }
  return args.length % 2 === 0 ? args.at(-1)!(run) : errorValues.notAvailable
}

function coalesce(args: readonly Evaluate[], run: Evaluation): Value {
  for (const arg of args) {
    const value = arg(run)
    if (value !== null) return value
  }
  return null
}

const fallback =
  (catches: (value: Value) => boolean) =>
  (args: readonly Evaluate[], run: Evaluation): Value => {
    const value = args[0]!(run)
    return catches(value) ? args[1]!(run) : value
  }

/** Logical functions. They evaluate only what they need: the branch that is not taken may be an error. */
export const logicFunctions: FunctionTable = {
  IF: defineLazy({
    usage: ['condition', 'then', '[otherwise]'],
    min: 2,
    max: 3,
    doc: 'The second value when the condition holds, otherwise the third, or FALSE if it is omitted.',
    call: (args, run) => {
      const condition = toBoolean(args[0]!(run))
      if (isError(condition)) return condition
      if (condition) return args[1]!(run)
      return args[2] === undefined ? false : args[2](run)
    },
  }),
  IFS: defineLazy({
    usage: ['condition', 'value', '…'],
    min: 2,
    group: 2,
    doc: 'The value after the first condition that holds; #N/A when none does.',
    call: ifs,
  }),
  SWITCH: defineLazy({
    usage: ['value', 'case', 'result', '…', '[otherwise]'],
    min: 3,
    takesWord: (index, count) => index % 2 === 1 && index + 1 < count,
    doc: 'The result after the first case that equals the value, otherwise the last argument if it has no case, otherwise #N/A.',
    call: switchOver,
  }),
  CHOOSE: defineLazy({ usage: ['index', 'value…'], min: 2, doc: 'The value at a position, counted from 1.', call: choose }),
  AND: defineLazy({
    usage: ['condition…'],
    min: 1,
    doc: 'Whether all conditions hold; stops at the first that does not. An empty one does not hold.',
    call: (args, run) => scan(args, run, (truth) => !truth) ?? true,
  }),
  OR: defineLazy({
    usage: ['condition…'],
    min: 1,
    doc: 'Whether any condition holds; stops at the first that does.',
    call: (args, run) => scan(args, run, (truth) => truth) ?? false,
  }),
  XOR: defineLazy({ usage: ['condition…'], min: 1, doc: 'Whether an odd number of conditions holds.', call: xor }),
  NOT: defineLazy({
    usage: ['condition'],
    min: 1,
    max: 1,
    doc: 'TRUE when the condition does not hold.',
    call: (args, run) => {
      const truth = toBoolean(args[0]!(run))
      return isError(truth) ? truth : !truth
    },
  }),
  IFERROR: defineLazy({
    usage: ['value', 'otherwise'],
    min: 2,
    max: 2,
    doc: 'The value, or the second argument when the value is an error.',
    call: fallback(isError),
  }),
  IFNA: defineLazy({
    usage: ['value', 'otherwise'],
    min: 2,
    max: 2,
    doc: 'The value, or the second argument when the value is #N/A.',
    call: fallback((value) => value === errorValues.notAvailable),
  }),
  COALESCE: defineLazy({ usage: ['value…'], min: 1, doc: 'The first value that is not empty.', call: coalesce }),
  TRUE: defineEager({ takes: [], doc: 'TRUE.', call: () => true }),
  FALSE: defineEager({ takes: [], doc: 'FALSE.', call: () => false }),
}
