import type { Source } from '#test/architecture/source.ts'

/** One rule of the house. */
export interface Rule {
  readonly name: string
  /** What breaks the rule, one line each: the file, and what would be right. */
  readonly violations: (sources: readonly Source[]) => string[]
  /** A small tree that breaks the rule, file by file: a rule that cannot fail holds nothing. */
  readonly broken: Readonly<Record<string, string>>
}

/** A rule that looks at every file by itself: `wrong` says what is wrong with it. */
export const eachFile = (name: string, wrong: (source: Source) => readonly string[], broken: Readonly<Record<string, string>>): Rule => ({
  name,
  violations: (sources) => sources.flatMap((one) => wrong(one).map((text) => `${one.path}: ${text}`)),
  broken,
})

/** Whether a path is one of these files or lies below one of these folders. */
export const within = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(`${place}/`))

/** Whether a file is part of what runs in production. */
export const isProduct = ({ path }: Source): boolean => within(path, ['api', 'workers', 'shared'])
