/** A call that a page of docs/contract shows: the status of its answer, the request line, headers, and a body. */
export interface HttpBlock {
  readonly status: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** The blocks of language `http` in a page, in order. */
export function httpBlocksOf(page: string): HttpBlock[] {
  return Array.from(page.matchAll(/^```http\n(.*?)^```$/gms), ([, block = '']) => {
    const [head = '', ...rest] = block.trimEnd().split('\n\n')
    const [first = '', line = '', ...headers] = head.split('\n')
    const [, status] = /^# (\d{3})$/.exec(first) ?? []
    const [, method, path] = /^([A-Z]+) (\/\S+)$/.exec(line) ?? []
    if (!status || !method || !path) throw new Error(`A block of http begins with "# <status>" and "<METHOD> /<path>", not ${head}`)
    const body = rest.length > 0 ? { body: rest.join('\n\n') } : {}
    return { status: Number(status), method, path, headers: Object.fromEntries(headers.map((one) => one.split(': '))), ...body }
  })
}

/** Values for the placeholders of a page: ids of earlier answers. */
export interface Placeholders {
  /** Text with values for `{orgId}`, and for `{fields.id}` that of the last answer to a call whose path ends with `/fields` and that has one. */
  readonly fill: (text: string) => string
  readonly learn: (path: string, data: unknown) => void
}

export function openPlaceholders(orgId: string): Placeholders {
  const answers: { readonly name: string; readonly data: unknown }[] = []
  const lastValue = (name: string, keys: readonly string[]): string => {
    const values = answers.filter((one) => one.name === name).map(({ data }) => keys.reduce<unknown>(propertyOf, data))
    const value = values.findLast((one) => typeof one === 'string')
    if (typeof value !== 'string') throw new Error(`No answer to a call of …/${name} has ${keys.join('.')}`)
    return value
  }
  return {
    fill: (text) =>
      text
        .replaceAll('{orgId}', orgId)
        .replaceAll(/(?<!\{)\{([a-z-]+)\.([\w.]+)\}(?!\})/g, (_, name: string, keys: string) => lastValue(name, keys.split('.'))),
    learn: (path, data) => void answers.push({ name: (path.split('?')[0] ?? '').split('/').at(-1) ?? '', data }),
  }
}

const propertyOf = (value: unknown, key: string): unknown => (value as Record<string, unknown> | undefined | null)?.[key]
