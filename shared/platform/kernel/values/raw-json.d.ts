/** Exact JSON numbers (TC39 "JSON.parse source text access"). Node 24 has them, the standard library's types do not. */
interface RawJson {
  readonly rawJSON: string
}
interface JSON {
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
  parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
}
