/**
 * What keeps a result from being kept, as the house's JSON is: nesting deeper than `deepest` levels, a NUL character or a lone surrogate,
 * which JSON.stringify writes as escapes. Null when nothing does. Runs in a runner, so it names nothing outside itself.
 */
export function findResultProblem(json: string, deepest: number): string | null {
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json)) return 'the result holds a NUL character or a lone surrogate'
  let depth = 0
  let isInText = false
  for (let at = 0; at < json.length; at++) {
    const character = json[at]
    if (isInText && character === '\\') at += 1
    else if (character === '"') isInText = !isInText
    else if (isInText) continue
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > deepest) return `the result is nested deeper than ${deepest} levels`
  }
  return null
}
