import { addressOf, type Call, headersOf } from '#test/api/walk/example.ts'
import type { Step } from '#test/api/walk/steps.ts'
import { fromAnywhere } from '#test/support/account.ts'
import type { Answer } from '#test/support/send-request.ts'
import type { Place } from '#test/support/things.ts'

/** The different 404 responses so far, by the missing thing: a name of the path, the route's app, or the workspace. */
export type Absences = Map<string, Set<string>>

/** Differences between the responses of the steps and the expected ones, in words. Adds every 404 response to `absences`. */
export async function surprisesOf(route: string, place: Place, steps: readonly Step[], absences: Absences): Promise<string[]> {
  const surprises: string[] = []
  for (const step of steps) {
    const surprise = await take(route, place, step, absences).catch((error: unknown) => String(error))
    if (surprise) surprises.push(`${step.title}: ${surprise}`)
  }
  return surprises
}

async function take(
  route: string,
  { org }: Place,
  { call, client, expected, names, orgId, missing = 'anything' }: Step,
  absences: Absences,
) {
  const [method = ''] = route.split(' ')
  const sender = expected === 'done' ? (call.client ?? client) : client
  const address = addressOf(route, orgId ?? org.id, call)
  const answer = await sender.send(method, address, call.body, { ...headersOf(call), ...fromAnywhere() })
  if (answer.status === 404) absences.set(missing, (absences.get(missing) ?? new Set()).add(plain(answer, call)))
  const got = answer.status < 400 ? 'done' : `${answer.status} ${codeOf(answer)}`
  if (got !== expected) return `${expected} was expected, got ${answer.status} ${answer.text.slice(0, 300)}`
  if (names && !answer.body.error.message.includes(names)) return `${names} is not named: ${answer.text}`
  return undefined
}

/** Suggestions for a misspelled key, which differ with the request. */
const advice = /; (?:did you mean [^?"]*\?|POST …\/types makes one)/g

/** The code of a failure, which pages contain too. */
const codeOf = ({ body, text }: Answer): string | undefined => body?.error?.code ?? /<code>(\w+)<\/code>/.exec(text)?.[1]

/** A shorter name, such as the number of a version, may occur in any text. */
const shortestName = 8

/** A response without its request id, the time, and the rest of a limit. */
function plain({ text, headers }: Answer, { params = {} }: Call): string {
  const requestId = headers.get('x-request-id') ?? ''
  const withoutNames = Object.entries(params).reduce(
    (rest, [name, value]) => (value.length < shortestName ? rest : rest.replaceAll(value, name)),
    text,
  )
  const kept = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit', 'content-length'].includes(name))
  return `${JSON.stringify(kept)} ${withoutNames.replaceAll(advice, '').replaceAll(requestId, 'request id')}`
}
