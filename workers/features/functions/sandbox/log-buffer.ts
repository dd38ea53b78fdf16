import { runLimits } from '#workers/features/functions/sandbox/limits.ts'
import type { LogLine } from '#workers/features/functions/sandbox/run-outcome.ts'
import { logLevels } from '#workers/features/functions/sandbox/runner/protocol.ts'

/** The last line of truncated output. The line before it may be incomplete. */
export const truncationLine: LogLine = Object.freeze({
  level: 'warn',
  msg: `output was cut: a run may print ${runLimits.logLines} lines or ${runLimits.logBytes / 1024} KB`,
})

/**
 * Makes text storable: replaces lone surrogates and NUL characters. Also removes the platform's own stack frames in the isolate, which mean
 * nothing to the function's author.
 */
export const cleanOutputText = (text: string): string =>
  text
    .toWellFormed()
    .replaceAll('\0', '\ufffd')
    .replace(/\n {4}at [^\n]*\(<isolated-vm>:\d+:\d+\)/g, '')

/**
 * Keeps a run's console output up to 1,000 lines or 256 KB (docs/contract/functions.md#run-limits), then one last line that says that it
 * was cut.
 */
export function createLogBuffer(): { readonly lines: readonly LogLine[]; readonly write: (level: number, text: string) => void } {
  const lines: LogLine[] = []
  let bytesLeft = runLimits.logBytes
  let isCut = false
  const write = (level: number, text: string): void => {
    if (isCut) return
    const msg = cleanOutputText(text)
    const bytes = Buffer.byteLength(msg)
    isCut = lines.length === runLimits.logLines || bytes > bytesLeft
    if (lines.length < runLimits.logLines && bytesLeft > 0) {
      lines.push({ level: logLevels[level] ?? 'log', msg: bytes > bytesLeft ? firstBytes(msg, bytesLeft) : msg })
    }
    bytesLeft -= bytes
    if (isCut) lines.push(truncationLine)
  }
  return { lines, write }
}

/** The longest prefix of the text that fits, cut between characters. */
function firstBytes(text: string, bytes: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(bytes))
  return text.slice(0, read)
}
