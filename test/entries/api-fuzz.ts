import '#test/support/one-at-a-time.ts'
import '#test/api/foreign-ids.test.ts'
import '#test/api/fuzz.test.ts'
import '#test/api/unknown-keys.test.ts'
