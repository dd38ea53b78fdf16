import { eachFile, isAny, type Rule, within } from '#test/architecture/rule.ts'

/** A fence, not an aim: half of all files have under 60 lines. A file of tests may tell a longer story than this lets it. */
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
const unfinished = eachFile('nothing is left for later', isAny, ({ text }) => (later.test(text) ? ['finish it or take it out'] : []), {
  'shared/a.ts': `// TO${'DO'}: finish`,
})

/** Files whose values have any shape: the tables that hold every declaration at once, and what a test looks at. */
const anyShape = [
  'api/http/route.ts',
  'shared/platform/jobs/job.ts',
  'workers/platform/jobs/handler.ts',
  'test/support/client.ts',
  'test/support/wire.ts',
]
const loose = new RegExp(`@ts-(?:ign${'ore'}|expect-error|nocheck)`)
const types = eachFile(
  'no type is waved through',
  isAny,
  ({ path, text }) => [
    ...(loose.test(text) ? ['must not silence the type checker'] : []),
    ...(/noExplicitAny/.test(text) && !within(path, [...anyShape, 'test/architecture'])
      ? ['must not hold any: parse the value or name its type']
      : []),
  ],
  { 'shared/a.ts': `// @ts-ign${'ore'}`, 'shared/b.ts': '// biome-ignore lint/suspicious/noExplicitAny: in a hurry' },
)

export const wordRules: readonly Rule[] = [length, names, unfinished, types]

/** Every path that these rules name. */
export const wordPaths: readonly string[] = anyShape
