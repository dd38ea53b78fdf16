/** Exact numbers of JSON (TC39 "JSON.parse source text access"): in Node 24, not yet in the standard library's types. */
interface RawJson {
  readonly rawJSON: string
}
interface JSON {
  rawJSON(text: string): RawJson
  isRawJSON(value: unknown): value is RawJson
  parse(text: string, reviver: (this: unknown, key: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
}
