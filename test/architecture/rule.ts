import type { Source } from '#test/architecture/source.ts'

/** A rule found its violations in so many examined files. */
export interface Finding {
  /** The number of files that the rule examined. A rule that examines none fails its test. */
  readonly examined: number
  /** One line each: the file, and the right way. */
  readonly violations: readonly string[]
}

/** One rule of the architecture. */
export interface Rule {
  readonly name: string
  readonly check: (sources: readonly Source[]) => Finding
  /** A small tree that breaks the rule, by path. The folders of its paths exist in the project. */
  readonly broken: Readonly<Record<string, string>>
}

/** A rule that examines the files of its part one by one: `wrong` returns the violations of a file. */
export const eachFile = (
  name: string,
  isPart: (source: Source) => boolean,
  wrong: (source: Source) => readonly string[],
  broken: Readonly<Record<string, string>>,
): Rule => ({
  name,
  check: (sources) => {
    const examined = sources.filter(isPart)
    return { examined: examined.length, violations: examined.flatMap((one) => wrong(one).map((text) => `${one.path}: ${text}`)) }
  },
  broken,
})

/** A rule that examines the files of its part together. */
export const together = (
  name: string,
  isPart: (source: Source) => boolean,
  wrong: (sources: readonly Source[]) => readonly string[],
  broken: Readonly<Record<string, string>>,
): Rule => ({
  name,
  check: (sources) => {
    const examined = sources.filter(isPart)
    return { examined: examined.length, violations: wrong(examined) }
  },
  broken,
})

/** Whether a path is one of these files or in one of these folders. */
export const within = (path: string, places: readonly string[]): boolean =>
  places.some((place) => path === place || path.startsWith(`${place}/`))

/** Whether a file is part of the product at run time. */
export const isProduct = ({ path }: Source): boolean => within(path, ['api', 'workers', 'shared'])

export const isAny = (): boolean => true
