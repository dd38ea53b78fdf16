/** A command of a page with the answer below it, empty if none is shown; or the time from there on. */
export type Step = { readonly command: string; readonly answer: string } | { readonly now: Date }

const begins = /^(?:curl |grep |[A-Z]+=)/
const time = /<!-- It is (\S+)\. -->/

/** The steps of a page, in order. A command is a line that begins as one, with the lines that quotes or a backslash continue. */
export function stepsOf(page: string): Step[] {
  return page.split(/^ *```$/m).flatMap((part, index): Step[] => {
    const [, now] = time.exec(part) ?? []
    if (index % 2 === 0) return now === undefined ? [] : [{ now: new Date(now) }]
    return commandsOf(unindented(part))
  })
}

/** Lines of a block without the indentation of the first line. */
function unindented(block: string): string[] {
  const lines = block.split('\n').filter((line) => line.trim() !== '')
  const depth = lines[0]?.search(/\S/) ?? 0
  return lines.map((line) => line.slice(depth))
}

function commandsOf(lines: readonly string[]): Step[] {
  const steps: { command: string; answer: string }[] = []
  for (const line of lines) {
    const last = steps.at(-1)
    if (last && isOpen(last.command)) last.command += `\n${line}`
    else if (begins.test(line)) steps.push({ command: line, answer: '' })
    // A JSON answer has one line, and several lines in the page.
    else if (last) last.answer += /^[{ ]/.test(line) ? line.trim() : `${last.answer && '\n'}${line}`
    else throw new Error(`No command stands above ${line}`)
  }
  return steps
}

const isOpen = (command: string): boolean => command.endsWith('\\') || command.split("'").length % 2 === 0

/** The parts of a page that differ for every reader: ids, tokens, and instants with a fraction of a second. */
const variable = /([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9A-Za-z]{43}\b)|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.(?!000000)\d{6}Z|…/g

/** Names in a page, and their values in the world of the test. */
export interface Names {
  /** Text of the page with the values of the world. */
  readonly inWorld: (text: string) => string
  /** Whether an answer matches the one that the page shows; if so, its new names are known afterwards. Dots in the page match anything. */
  readonly learn: (shown: string, actual: string) => boolean
}

/** Names of a page, some of them known. An id in a shown answer is afterwards the id of the actual answer. */
export function openNames(given: Readonly<Record<string, string>>): Names {
  const known = new Map(Object.entries(given))
  return {
    inWorld: (text) => [...known].reduce((rest, [shown, actual]) => rest.replaceAll(shown, actual), text),
    learn: (shown, actual) => {
      const text = [...known].reduce((rest, [name, value]) => rest.replaceAll(value, name), actual.trimEnd())
      const groups: string[] = []
      const found = new RegExp(`^${patternOf(shown, known, groups)}$`, 's').exec(text)
      for (const [index, name] of groups.entries()) if (found) known.set(name, found[index + 1] ?? name)
      return found !== null
    },
  }
}

/** A pattern for a shown answer; its new names are added to `groups`, in the order of the pattern's groups. */
function patternOf(shown: string, known: ReadonlyMap<string, string>, groups: string[]): string {
  let pattern = ''
  let at = 0
  for (const match of shown.matchAll(variable)) {
    const [text, name] = match
    pattern += literal(shown.slice(at, match.index))
    at = match.index + text.length
    if (text === '…') pattern += '.*?'
    else if (name === undefined) pattern += '\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z'
    else if (known.has(name)) pattern += literal(name)
    else if (groups.includes(name)) pattern += `\\${groups.indexOf(name) + 1}`
    else {
      groups.push(name)
      pattern += `(${name.includes('-') ? '[0-9a-f-]{36}' : '[0-9A-Za-z]{43}'})`
    }
  }
  return pattern + literal(shown.slice(at))
}

const literal = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
