import { eachFile, isAny, type Rule, together, within } from '#test/architecture/rule.ts'
import { readIdentifiers, type Source } from '#test/architecture/source.ts'

/** A fence, not an aim: half of all files have under 60 lines. */
const mostLines = 400
const mostTestLines = 400

const length = eachFile(
  `a file has fewer than ${mostLines} lines`,
  isAny,
  ({ path, text }) => {
    const lines = text.split('\n').length - 1
    return lines < (path.startsWith('test/') ? mostTestLines : mostLines) ? [] : [`has ${lines} lines; look for the second idea in it`]
  },
  { 'shared/a.ts': '\n'.repeat(mostLines), 'test/a.ts': '\n'.repeat(mostTestLines) },
)

const vague = /^(?:index|utils?|helpers?|common|managers?|misc|types|constants)$/
const names = eachFile(
  'a file is named after its idea',
  isAny,
  ({ path }) =>
    vague.test(
      path
        .split('/')
        .at(-1)
        ?.replace(/\.\w+$/, '') ?? '',
    )
      ? ['name the idea that it is about']
      : [],
  { 'shared/core/records/utils.ts': '', 'api/http/index.ts': '' },
)

// Written in two parts, so that this file does not break its own rule.
const later = new RegExp(`\\b(?:TO${'DO'}|FIX${'ME'}|HA${'CK'})\\b`)
const unfinished = eachFile('no text marks unfinished work', isAny, ({ text }) => (later.test(text) ? ['finish it or take it out'] : []), {
  'shared/a.ts': `// TO${'DO'}: finish`,
})

/** Files whose values have any form: tables of all declarations, and responses in tests. */
const anyShape = [
  'api/http/route.ts',
  'shared/platform/jobs/job.ts',
  'workers/platform/jobs/handler.ts',
  'test/support/send-request.ts',
  'test/support/wire.ts',
]
const loose = new RegExp(`@ts-(?:ign${'ore'}|expect-error|nocheck)`)
const types = eachFile(
  'the type checker is not silenced',
  isAny,
  ({ path, text }) => [
    ...(loose.test(text) ? ['must not silence the type checker'] : []),
    ...(/noExplicitAny/.test(text) && !within(path, [...anyShape, 'test/architecture'])
      ? ['must not hold any: parse the value or name its type']
      : []),
  ],
  { 'shared/a.ts': `// @ts-ign${'ore'}`, 'shared/b.ts': '// biome-ignore lint/suspicious/noExplicitAny: in a hurry' },
)

/** Retired words, with the plain words to use instead. An entry with a space is two words of a name, such as `naturalKey`. */
const retired: readonly (readonly [words: readonly string[], plain: string])[] = [
  [['picture', 'pictures'], 'metadata'],
  [['settle', 'settles', 'settled', 'settling'], 'refresh (a cache) or complete (an operation)'],
  [['hear', 'hears', 'heard', 'hearing'], 'subscribe or receive'],
  [['tell', 'tells', 'told', 'telling'], 'inform, report or append'],
  [['look', 'looks', 'looked', 'looking'], 'check, poll or find'],
  [['turn', 'turns'], 'lock, semaphore or slice'],
  [['room', 'rooms'], 'feature, domain or quota'],
  [['door', 'doors'], 'dialer or client'],
  [['doorkeeper', 'lane', 'lanes'], 'limiter or priority'],
  [['score', 'scores'], 'compiled flow'],
  [['play', 'plays', 'played', 'player'], 'execute or runner'],
  [['chore', 'chores'], 'maintenance'],
  [['rest', 'rests', 'rested', 'resting'], 'defer'],
  [['fate', 'fates'], 'disposition'],
  [['lot', 'lots'], 'group'],
  [['horizon', 'horizons', 'news'], 'xmin or invalidations'],
  [['sight', 'sights'], 'access'],
  [['ring', 'rings', 'ringing'], 'reminder'],
  [['kept answer'], 'idempotency record'],
  [['beat', 'beats'], 'heartbeat'],
  [['natural key'], 'deduplication key'],
  [['veto', 'vetoes'], 'guard'],
  [['goes', 'lets'], 'uses, continues or releases'],
  [['stand', 'stands'], 'position, or is…'],
  [['anew', 'whoever'], 'again, or the process that…'],
]
const plainWords = new Map(retired.flatMap(([words, plain]) => words.map((word) => [word, plain] as const)))

/** Where the rule holds. */
const spoken = ['api', 'workers', 'shared', 'bin', 'scripts', 'bench']

/** Names that keep a retired word, and where: data of rows, jobs and the API, and words that mean something else there. */
const keptNames: Readonly<Record<string, readonly string[]>> = {
  // JavaScript's own.
  rest: ['api', 'workers', 'shared', 'scripts', 'bench'],
  Rest: ['api/http/declaration.ts'],
  allSettled: ['shared', 'workers'],
  // Repeated parameters of a formula's function.
  restMin: ['shared/platform/formula/functions'],
  // How far ahead a slot may be booked: a setting of the API.
  horizon_days: ['shared/features/calendar', 'api/features/calendar', 'bench/cases'],
  horizonDays: ['shared/features/calendar', 'api/features/calendar'],
  // How much an index is worth.
  score: ['shared/core/types/indexes'],
  requiredScore: ['shared/core/types/indexes'],
  scoreUses: ['shared/core/types/indexes'],
  decayedScoreSql: ['shared/core/types/indexes'],
  // The oldest transaction whose changes a read must look for.
  horizon: ['shared/platform/db/cache'],
  '#horizon': ['shared/platform/db/cache'],
}

const mayStay = new Map(Object.entries(keptNames))

const wordsOf = (name: string): string[] =>
  name
    .split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())

/** The retired words of a name, single ones and pairs. */
function retiredIn(name: string): string[] {
  const words = wordsOf(name)
  return [...words, ...words.map((word, index) => `${word} ${words[index + 1]}`)].filter((word) => plainWords.has(word))
}

/** The names of a source: its identifiers and those of its own path. */
const namesOf = (one: Source): string[] => [...readIdentifiers(one), ...one.path.replace(/\.\w+$/, '').split('/')]

const isSpoken = ({ path }: Source): boolean => within(path, spoken)
const plainNames = eachFile(
  'names use plain words',
  isSpoken,
  (one) =>
    namesOf(one)
      .filter((name) => !within(one.path, mayStay.get(name) ?? []))
      .flatMap((name) => retiredIn(name).map((word) => `${name} holds the retired word "${word}": ${plainWords.get(word)}`)),
  {
    'shared/a.ts': 'const typePicture = 1',
    'api/b.ts': 'const { naturalKey } = input',
    'bench/veto.ts': '',
    'workers/c.ts': 'class D { #heard = 1 }',
  },
)

const keptAreUsed = together(
  'every name that keeps a retired word occurs where it may',
  isSpoken,
  (sources) => {
    const used = sources.map((one) => [one.path, new Set(namesOf(one))] as const)
    return Object.entries(keptNames).flatMap(([name, places]) =>
      places
        .filter((place) => !used.some(([path, names]) => within(path, [place]) && names.has(name)))
        .map((place) => `${place}: ${name} does not occur; take it off the list`),
    )
  },
  { 'shared/a.ts': '' },
)

export const wordRules: readonly Rule[] = [length, names, unfinished, types, plainNames, keptAreUsed]

/** Every path that these rules name. */
export const wordPaths: readonly string[] = [...anyShape, ...Object.values(keptNames).flat()]
