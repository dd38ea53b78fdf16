import { flowLimits } from '#shared/features/flows/limits.ts'
import { hasParts } from '#shared/platform/kernel/values/json-walk.ts'

/** Output of a step that wrote a record. */
export interface RecordOutput {
  readonly id: string
  readonly object_type: string
  readonly values: Readonly<Record<string, unknown>>
  /** Keys of the values of which only the beginning is left, as text. */
  readonly cut?: readonly string[]
}

export const isRecordOutput = (output: unknown): output is RecordOutput =>
  hasParts(output) && typeof output.id === 'string' && typeof output.object_type === 'string' && hasParts(output.values)

/**
 * A record's output for views, cut to about `flowLimits.shownBytes`: the longest values are cut to equal lengths. It stays an object, since
 * fields that a viewer may not read are removed from it.
 */
export function cutRecordOutput({ id, object_type, values }: RecordOutput): RecordOutput {
  let free: number = flowLimits.shownBytes
  const cut = new Map<string, string>()
  const sized = Object.entries(values).map(([key, value]) => ({ key, value, bytes: Buffer.byteLength(JSON.stringify(value) ?? '') }))
  const shortestFirst = sized.sort((one, other) => one.bytes - other.bytes)
  for (const [index, { key, value, bytes }] of shortestFirst.entries()) {
    const share = Math.floor(free / (shortestFirst.length - index))
    if (bytes > share) cut.set(key, beginningOf(typeof value === 'string' ? value : JSON.stringify(value), share))
    free -= Math.min(bytes, share)
  }
  const shown = Object.entries(values).map(([key, value]) => [key, cut.get(key) ?? value])
  return { id, object_type, values: Object.fromEntries(shown), cut: [...cut.keys()] }
}

/** The first bytes of a text in UTF-8, up to the last whole character. */
export const beginningOf = (text: string, bytes: number): string => Buffer.from(text).subarray(0, bytes).toString().replace(/�$/, '')
